// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/figure_output.h"

#include "app/commands/console.h"
#include "app/commands/option_checks.h"

#include <QApplication>
#include <QStringList>

#include <algorithm>
#include <array>

namespace flipscope {

namespace {

Result<QSize> parse_size(const std::string& text)
{
    const QStringList parts = QString::fromStdString(text).split(QLatin1Char('x'));
    bool wide = false, high = false;
    const QSize size(parts.value(0).toInt(&wide), parts.value(1).toInt(&high));
    if (parts.size() != 2 || !wide || !high || size.isEmpty())
        return fail(ErrorKind::Usage, "--size wants two numbers of pixels, as 1200x700, not \"{}\".", text);
    return size;
}

/// Qt remarks on folders of a desktop session that nobody needs who exports a figure.
void pass_on(QtMsgType type, const QMessageLogContext&, const QString& text)
{
    if (type != QtDebugMsg && !text.contains(QLatin1String("XDG_RUNTIME_DIR")) &&
        !text.contains(QLatin1String("runtime directory")) && !text.contains(QLatin1String("propagateSizeHints")))
        complain(text.toStdString());
}

} // namespace

void add_figure_options(CLI::App& command, FigureOptions& options)
{
    command.add_option("--size", options.size, "Size in pixels at 96 dpi (default: 1200 wide, as high as needed)")
        ->check(not_empty())
        ->type_name("WxH");
    command.add_option("--dpi", options.dpi, "Resolution of a PNG")
        ->transform(whole_number(24, 1200))
        ->capture_default_str()
        ->type_name("N");
    command.add_option("--theme", options.theme, "Colours of paper or of a dark screen")
        ->check(CLI::IsMember({"light", "dark"}))
        ->capture_default_str()
        ->type_name("light|dark");
}

Result<FigureSpec> figure_spec(const FigureOptions& options, const std::string& out)
{
    FigureSpec spec;
    if (!options.size.empty()) {
        const auto size = parse_size(options.size);
        if (!size)
            return tl::unexpected(size.error());
        spec.size = *size;
    }
    spec.dpi = options.dpi;
    spec.theme = options.theme == "dark" ? ChartStyle::Theme::Dark : ChartStyle::Theme::Light;
    if (const auto ok = checkFigure(spec, out); !ok)
        return tl::unexpected(ok.error());
    return spec;
}

Result<void> write_figure(FigureSpec spec, const FigureOptions& options, const std::string& out,
                          const std::function<void(FigureSpec&)>& fill)
{
    // Drawing needs fonts, not a display: whatever platform the environment names, its absence must not end the
    // program.
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qInstallMessageHandler(pass_on);
    std::array<char, 10> name{"flipscope"};
    std::array<char*, 2> arguments{name.data(), nullptr};
    int count = 1;
    const QApplication application(count, arguments.data());
    loadExportFonts();
    fill(spec);
    if (options.size.empty()) // nobody asked for a height: what needs more gets it
        spec.size.setHeight(std::max(spec.size.height(), figureMinimumHeight(spec)));
    return exportFigure(spec, out);
}

} // namespace flipscope
