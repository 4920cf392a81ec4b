// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/answers/tape.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace flipscope::answers {

Json Json::operator[](std::string_view key) const
{
    for (const auto& [name, value] : members())
        if (name == key)
            return value;
    return {};
}

std::optional<double> Json::number() const
{
    if (!exists())
        return std::nullopt;
    if (kind() == Tape::Kind::Real)
        return at().real;
    if (kind() == Tape::Kind::Integer)
        return static_cast<double>(at().integer);
    return std::nullopt;
}

std::optional<std::int64_t> Json::integer() const
{
    if (exists() && kind() == Tape::Kind::Integer)
        return at().integer;
    return std::nullopt;
}

std::string_view Json::string() const
{
    return is_string() ? std::string_view(tape_->text).substr(at().offset, at().size) : std::string_view();
}

Elements Json::elements() const
{
    return Elements(*this);
}

Members Json::members() const
{
    return Members(*this);
}

namespace {

std::string quoted(std::string_view text)
{
    return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

std::string Json::dump() const
{
    if (is_null())
        return "null";
    std::string out;
    switch (kind()) {
    case Tape::Kind::True:
        return "true";
    case Tape::Kind::Integer:
        return fmt::format("{}", at().integer);
    case Tape::Kind::Real:
        return std::isfinite(at().real) ? nlohmann::json(at().real).dump() : "null";
    case Tape::Kind::String:
        return quoted(string());
    case Tape::Kind::Array:
        for (const Json value : elements())
            out += fmt::format("{}{}", out.empty() ? "" : ",", value.dump());
        return fmt::format("[{}]", out);
    case Tape::Kind::Object:
        for (const auto& [key, value] : members())
            out += fmt::format("{}{}:{}", out.empty() ? "" : ",", quoted(key), value.dump());
        return fmt::format("{{{}}}", out);
    case Tape::Kind::Null:
    case Tape::Kind::False:
        break;
    }
    return "false";
}

} // namespace flipscope::answers
