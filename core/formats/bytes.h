// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace flipscope::formats {

/// Bytes that can be read at any place: a file, a part of one, or a packed part unpacked. Thread-safe. Messages are
/// whole sentences with the file's name.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    virtual std::uint64_t size() const = 0;
    /// Fills `out` from `offset` on; bytes behind the end are an error.
    virtual Result<void> read(std::uint64_t offset, std::span<std::byte> out) const = 0;
};

using BytesPtr = std::shared_ptr<const ByteSource>;

/// A plain file, open for reading as long as this lives. `shown` is what messages call it.
Result<BytesPtr> open_bytes(const std::filesystem::path& path, const std::filesystem::path& shown);

/// `size` bytes of `whole` from `offset` on; the caller has checked that they are there.
BytesPtr part_of(BytesPtr whole, std::uint64_t offset, std::uint64_t size);

/// All of it in memory; more than `most` bytes are an error. `what` is the beginning of the message.
Result<std::string> read_all(const ByteSource& bytes, std::uint64_t most, const std::string& what);

/// A file without a name in the cache folder (or the system's folder for temporary files): private, and gone when the
/// last descriptor closes, however the program ends.
class TemporaryFile {
public:
    static Result<TemporaryFile> create();
    TemporaryFile(TemporaryFile&& other) noexcept;
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile();

    /// Refuses to fill the disk: some room is always left.
    Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes);
    std::uint64_t size() const { return size_; }
    /// A name under which this process can open it as long as this lives.
    std::filesystem::path path() const;
    /// Turns it into a source; nothing can be written then.
    BytesPtr into_bytes(const std::filesystem::path& shown) &&;

private:
    TemporaryFile(int fd, std::filesystem::path folder) : fd_(fd), folder_(std::move(folder)) {}
    Result<void> check_room(std::uint64_t bytes);

    int fd_ = -1;
    std::filesystem::path folder_; ///< for messages
    std::uint64_t size_ = 0;
    std::uint64_t unchecked_ = 0; ///< bytes that may be written before the room on the disk is looked at again
};

} // namespace flipscope::formats
