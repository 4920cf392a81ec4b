// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/hdf5_write.h"

namespace flipscope::h5 {

namespace {

tl::unexpected<Error> write_failed(std::string_view what)
{
    const std::string reason = last_error();
    return fail(ErrorKind::Unreadable, "{} could not be written: {}", what, reason);
}

Result<void> write_attribute(hid_t object, const char* name, hid_t type, const void* value)
{
    const Session session;
    const Handle space(H5Screate(H5S_SCALAR));
    const Handle attribute(H5Acreate2(object, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT));
    if (!attribute || H5Awrite(attribute.id(), type, value) < 0)
        return write_failed(fmt::format("the attribute \"{}\"", one_line(name, 60)));
    return {};
}

Handle sixteen_bits(std::size_t exponent_at, std::size_t exponent_bits, std::size_t bias)
{
    Handle type(H5Tcopy(H5T_NATIVE_FLOAT));
    H5Tset_fields(type.id(), 15, exponent_at, exponent_bits, 0,
                  exponent_at); // the fields first: they must fit the size
    H5Tset_size(type.id(), 2);
    H5Tset_ebias(type.id(), bias);
    return type;
}

} // namespace

Result<Handle> create_group(hid_t parent, const std::string& name)
{
    const Session session;
    Handle group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (!group)
        return write_failed(fmt::format("the group \"{}\"", one_line(name, 60)));
    return group;
}

Result<void> write_text_attribute(hid_t object, const char* name, std::string_view text)
{
    if (text.empty())
        return {};
    const Session session;
    const std::string copy = valid_utf8(text);
    const char* pointer = copy.c_str();
    return write_attribute(object, name, utf8_type().id(), &pointer);
}

Result<void> write_integer_attribute(hid_t object, const char* name, std::int64_t value)
{
    return write_attribute(object, name, H5T_NATIVE_INT64, &value);
}

Result<void> write_real_attribute(hid_t object, const char* name, double value)
{
    return write_attribute(object, name, H5T_NATIVE_DOUBLE, &value);
}

Result<void> write_dataset(hid_t group, const char* name, hid_t type, const std::vector<hsize_t>& dims,
                           const void* data)
{
    const Session session;
    const Handle space(dims.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_obj_track_times(creation.id(), false); // equal traces make equal files
    const Handle dataset(H5Dcreate2(group, name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT));
    if (!dataset || (H5Sget_simple_extent_npoints(space.id()) > 0 &&
                     H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
        return write_failed(fmt::format("the dataset \"{}\"", name));
    return {};
}

Result<void> write_text_dataset(hid_t group, const char* name, const std::vector<std::string>& texts, bool scalar)
{
    const Session session;
    std::vector<const char*> pointers;
    pointers.reserve(texts.size());
    for (const auto& text : texts)
        pointers.push_back(text.c_str());
    const std::vector<hsize_t> dims =
        scalar ? std::vector<hsize_t>() : std::vector<hsize_t>{static_cast<hsize_t>(texts.size())};
    return write_dataset(group, name, utf8_type().id(), dims, pointers.data());
}

Handle utf8_type()
{
    const Session session;
    Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.id(), H5T_VARIABLE);
    H5Tset_cset(type.id(), H5T_CSET_UTF8);
    return type;
}

Handle stored_type(LogitType type)
{
    const Session session;
    switch (type) {
    case LogitType::BF16:
        return sixteen_bits(7, 8, 127);
    case LogitType::F16:
        return sixteen_bits(10, 5, 15);
    case LogitType::F32:
        return Handle(H5Tcopy(H5T_NATIVE_FLOAT));
    case LogitType::F64:
        break;
    }
    return Handle(H5Tcopy(H5T_NATIVE_DOUBLE));
}

} // namespace flipscope::h5
