// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope::answers {

/// One JSON value in compact form: 16 bytes a node and all text in one string, so that answers of hundreds of
/// megabytes fit. Nodes stand in reading order; a container knows where it ends.
struct Tape {
    enum class Kind : std::uint8_t { Null, False, True, Integer, Real, String, Array, Object };
    struct Node {
        union {
            std::int64_t integer;
            double real;
            std::uint64_t offset; ///< of a string in `text`
            std::uint64_t end;    ///< of a container: the node after its last one
        };
        std::uint32_t size; ///< bytes of a string, values of an array, members of an object
        Kind kind;
    };
    std::vector<Node> nodes;
    std::string text;

    void clear()
    {
        nodes.clear();
        text.clear();
    }
};

class Elements;
class Members;

/// A value on a tape; one that is not there answers like null. Valid as long as the tape is neither changed nor moved.
class Json {
public:
    Json() = default;
    Json(const Tape& tape, std::size_t node) : tape_(&tape), node_(node) {}

    bool exists() const { return tape_ != nullptr; }
    bool is_null() const { return !exists() || kind() == Tape::Kind::Null; }
    bool is_object() const { return exists() && kind() == Tape::Kind::Object; }
    bool is_array() const { return exists() && kind() == Tape::Kind::Array; }
    bool is_string() const { return exists() && kind() == Tape::Kind::String; }
    bool is_true() const { return exists() && kind() == Tape::Kind::True; }

    /// The first member of that name; none where this is no object.
    Json operator[](std::string_view key) const;
    bool has(std::string_view key) const { return (*this)[key].exists(); }
    /// Values of an array, members of an object, else 0.
    std::size_t size() const { return is_array() || is_object() ? at().size : 0; }
    std::optional<double> number() const;
    std::optional<std::int64_t> integer() const;
    std::string_view string() const; ///< empty where this is no string
    /// Written out again as JSON.
    std::string dump() const;

    Elements elements() const; ///< empty where this is no array
    Members members() const;   ///< empty where this is no object

private:
    friend class Elements;
    friend class Members;
    const Tape::Node& at() const { return tape_->nodes[node_]; }
    Tape::Kind kind() const { return at().kind; }
    std::size_t after() const { return is_array() || is_object() ? at().end : node_ + 1; }

    const Tape* tape_ = nullptr;
    std::size_t node_ = 0;
};

/// The values of an array, for range-for.
class Elements {
public:
    class Iterator {
    public:
        explicit Iterator(Json at) : at_(at) {}
        Json operator*() const { return at_; }
        Iterator& operator++()
        {
            at_.node_ = at_.after();
            return *this;
        }
        bool operator!=(const Iterator& other) const { return at_.node_ != other.at_.node_; }

    private:
        Json at_;
    };
    explicit Elements(Json array) : array_(array) {}
    Iterator begin() const { return Iterator(array_.is_array() ? Json(*array_.tape_, array_.node_ + 1) : Json()); }
    Iterator end() const { return Iterator(array_.is_array() ? Json(*array_.tape_, array_.at().end) : Json()); }

private:
    Json array_;
};

/// The members of an object, in the order of the file.
class Members {
public:
    struct Member {
        std::string_view key;
        Json value;
    };
    class Iterator {
    public:
        explicit Iterator(Json key) : key_(key) {}
        Member operator*() const { return {key_.string(), Json(*key_.tape_, key_.node_ + 1)}; }
        Iterator& operator++()
        {
            key_.node_ = Json(*key_.tape_, key_.node_ + 1).after();
            return *this;
        }
        bool operator!=(const Iterator& other) const { return key_.node_ != other.key_.node_; }

    private:
        Json key_;
    };
    explicit Members(Json object) : object_(object) {}
    Iterator begin() const { return Iterator(object_.is_object() ? Json(*object_.tape_, object_.node_ + 1) : Json()); }
    Iterator end() const { return Iterator(object_.is_object() ? Json(*object_.tape_, object_.at().end) : Json()); }

private:
    Json object_;
};

} // namespace flipscope::answers
