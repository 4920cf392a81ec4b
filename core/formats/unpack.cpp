// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/unpack.h"

#include "core/trace/hdf5.h"

#include <algorithm>
#include <array>
#include <functional>
#include <zlib.h>
#include <zstd.h>

namespace flipscope::formats {

namespace {

constexpr std::size_t piece = 1 << 20;

/// Gets the next unpacked bytes; false = enough.
using Sink = std::function<Result<bool>(std::span<const std::byte>)>;

/// A packed file that is read from front to back.
class Packed {
public:
    Packed(const ByteSource& file, std::string name, const Job& job) : file_(file), name_(std::move(name)), job_(job) {}

    /// The next bytes of the file, empty at its end.
    Result<std::span<const std::byte>> next()
    {
        if (job_.cancelled())
            return cancelled();
        job_.progress({fmt::format("Unpacking {}", name_), static_cast<std::int64_t>(at_),
                       static_cast<std::int64_t>(file_.size()), true});
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), file_.size() - at_));
        const std::span part(buffer_.data(), n);
        if (auto ok = file_.read(at_, part); !ok)
            return tl::unexpected(ok.error());
        at_ += n;
        return std::span<const std::byte>(part);
    }
    bool at_end() const { return at_ == file_.size(); }
    const Job& job() const { return job_; }

    tl::unexpected<Error> cut_short() const
    {
        return fail(ErrorKind::BadFormat, "{} is a compressed file that is cut short: copy it again.", name_);
    }
    tl::unexpected<Error> damaged(std::string_view what) const
    {
        return fail(ErrorKind::BadFormat, "{} is a compressed file that is damaged ({}): copy it again.", name_, what);
    }

private:
    const ByteSource& file_;
    std::string name_;
    const Job& job_;
    std::vector<std::byte> buffer_ = std::vector<std::byte>(piece);
    std::uint64_t at_ = 0;
};

struct InflateState {
    z_stream z = {};
    bool ready = inflateInit2(&z, 15 + 16) == Z_OK; // + 16: a gzip header
    InflateState() = default;
    InflateState(const InflateState&) = delete;
    InflateState& operator=(const InflateState&) = delete;
    ~InflateState() { inflateEnd(&z); }
};

Result<void> gunzip(Packed& packed, const Sink& sink)
{
    InflateState state;
    if (!state.ready)
        return fail(ErrorKind::OutOfMemory, "There is not enough memory to unpack a file.");
    z_stream& z = state.z;
    std::vector<std::byte> out(piece);
    bool in_member = true; // a gzip file is one member or several, one behind the other
    while (true) {
        if (z.avail_in == 0) {
            const auto more = packed.next();
            if (!more)
                return tl::unexpected(more.error());
            if (more->empty())
                return in_member ? Result<void>(packed.cut_short()) : Result<void>();
            z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(more->data()));
            z.avail_in = static_cast<uInt>(more->size());
        }
        if (!in_member) {
            if (*z.next_in != 0x1F) // padding of tapes and the like behind the last member
                return {};
            inflateReset(&z);
        }
        z.next_out = reinterpret_cast<Bytef*>(out.data());
        z.avail_out = static_cast<uInt>(out.size());
        const int code = inflate(&z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return packed.damaged(z.msg ? z.msg : "zlib refuses it");
        in_member = code != Z_STREAM_END;
        const auto go_on = sink(std::span<const std::byte>(out).first(out.size() - z.avail_out));
        if (!go_on)
            return tl::unexpected(go_on.error());
        if (!*go_on)
            return {};
        if (packed.job().cancelled())
            return cancelled();
    }
}

struct ZstdState {
    ZSTD_DStream* stream = ZSTD_createDStream();
    ZstdState() = default;
    ZstdState(const ZstdState&) = delete;
    ZstdState& operator=(const ZstdState&) = delete;
    ~ZstdState() { ZSTD_freeDStream(stream); }
};

Result<void> unzstd(Packed& packed, const Sink& sink)
{
    const ZstdState state;
    if (!state.stream)
        return fail(ErrorKind::OutOfMemory, "There is not enough memory to unpack a file.");
    std::vector<std::byte> out(std::max(piece, ZSTD_DStreamOutSize()));
    std::size_t wanted = 1; // 0 = a frame ends here
    while (true) {
        const auto more = packed.next();
        if (!more)
            return tl::unexpected(more.error());
        if (more->empty())
            return wanted != 0 ? Result<void>(packed.cut_short()) : Result<void>();
        ZSTD_inBuffer in = {more->data(), more->size(), 0};
        bool full = false; // whatever fills the buffer may have more behind it
        while (in.pos < in.size || full) {
            ZSTD_outBuffer to = {out.data(), out.size(), 0};
            wanted = ZSTD_decompressStream(state.stream, &to, &in);
            if (ZSTD_isError(wanted))
                return packed.damaged(ZSTD_getErrorName(wanted));
            full = to.pos == to.size;
            const auto go_on = sink(std::span<const std::byte>(out).first(to.pos));
            if (!go_on)
                return tl::unexpected(go_on.error());
            if (!*go_on)
                return {};
            if (packed.job().cancelled())
                return cancelled();
            if (wanted == 0 && in.pos == in.size)
                break;
        }
    }
}

Result<void> unpack_into(Packed& packed, Packing packing, const Sink& sink)
{
    return packing == Packing::Gzip ? gunzip(packed, sink) : unzstd(packed, sink);
}

} // namespace

Packing packing_of(std::string_view head)
{
    using namespace std::string_view_literals;
    if (head.starts_with("\x1F\x8B\x08"sv))
        return Packing::Gzip;
    if (head.starts_with("\x28\xB5\x2F\xFD"sv))
        return Packing::Zstd;
    return Packing::None;
}

std::string unpacked_head(const std::filesystem::path& path, Packing packing, std::size_t most)
{
    std::string head;
    const auto file = open_bytes(path, path);
    if (!file)
        return head;
    const Job job;
    Packed packed(**file, {}, job);
    // Where it ends in the middle the beginning still tells what it is; unpack() will say the rest.
    (void)unpack_into(packed, packing, [&](std::span<const std::byte> bytes) -> Result<bool> {
        const auto n = std::min(bytes.size(), most - head.size());
        head.append(reinterpret_cast<const char*>(bytes.data()), n);
        return head.size() < most;
    });
    return head;
}

Result<TemporaryFile> unpack(const std::filesystem::path& path, const std::filesystem::path& shown, Packing packing,
                             const Job& job)
{
    const auto file = open_bytes(path, shown);
    if (!file)
        return tl::unexpected(file.error());
    auto temporary = TemporaryFile::create();
    if (!temporary)
        return temporary;
    Packed packed(**file, h5::one_line(shown.string()), job);
    const auto ok = unpack_into(packed, packing, [&](std::span<const std::byte> bytes) -> Result<bool> {
        if (auto written = temporary->write(temporary->size(), bytes); !written)
            return tl::unexpected(written.error());
        return true;
    });
    if (!ok)
        return tl::unexpected(ok.error());
    return temporary;
}

} // namespace flipscope::formats
