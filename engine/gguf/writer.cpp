#include "engine/gguf/writer.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "engine/base/units.h"
#include "engine/gguf/layout.h"
#include "engine/gguf/text.h"

namespace hearth::gguf {
namespace {

constexpr std::uint32_t kVersion = 3;

Error bad_plan(const std::string& what) {
    return Error{ErrorCode::bad_input, "cannot write this model file: " + what};
}

Error write_failed(const std::string& path) {
    return Error{ErrorCode::io_failed,
                 "cannot write " + quoted(path) + ": " + std::generic_category().message(errno)};
}

template <typename T>
void put(std::string& out, T value) {
    // char may alias anything: the number's bytes, in the machine's order, which is little-endian.
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_string(std::string& out, std::string_view text) {
    put(out, static_cast<std::uint64_t>(text.size()));
    out += text;
}

// False when the number does not fit into Stored.
template <typename Stored, typename Wide>
bool put_narrow(std::string& out, Wide value) {
    if constexpr (std::is_same_v<Stored, float>) {
        constexpr double kMax = std::numeric_limits<float>::max();
        if (std::isfinite(value) && std::abs(value) > kMax) return false;
    } else if constexpr (std::is_integral_v<Stored>) {
        if (!std::in_range<Stored>(value)) return false;
    }
    put(out, static_cast<Stored>(value));
    return true;
}

// One element of a given type; false when it does not fit or is of another kind.
bool put_element(std::string& out, ValueType type, std::uint64_t value) {
    switch (type) {
        case ValueType::u8:
            return put_narrow<std::uint8_t>(out, value);
        case ValueType::u16:
            return put_narrow<std::uint16_t>(out, value);
        case ValueType::u32:
            return put_narrow<std::uint32_t>(out, value);
        case ValueType::u64:
            return put_narrow<std::uint64_t>(out, value);
        default:
            return false;
    }
}
bool put_element(std::string& out, ValueType type, std::int64_t value) {
    switch (type) {
        case ValueType::i8:
            return put_narrow<std::int8_t>(out, value);
        case ValueType::i16:
            return put_narrow<std::int16_t>(out, value);
        case ValueType::i32:
            return put_narrow<std::int32_t>(out, value);
        case ValueType::i64:
            return put_narrow<std::int64_t>(out, value);
        default:
            return false;
    }
}
bool put_element(std::string& out, ValueType type, double value) {
    if (type == ValueType::f32) return put_narrow<float>(out, value);
    if (type == ValueType::f64) return put_narrow<double>(out, value);
    return false;
}
bool put_element(std::string& out, ValueType type, bool value) {
    if (type != ValueType::boolean) return false;
    put(out, static_cast<std::uint8_t>(value ? 1 : 0));
    return true;
}
bool put_element(std::string& out, ValueType type, const std::string& value) {
    if (type != ValueType::string || value.size() > kMaxStringBytes) return false;
    put_string(out, value);
    return true;
}

template <typename T>
bool put_array(std::string& out, ValueType element_type, const std::vector<T>& items) {
    if (items.size() > kMaxArrayElements) return false;
    put(out, static_cast<std::uint32_t>(element_type));
    put(out, static_cast<std::uint64_t>(items.size()));
    for (const auto& item : items)
        if (!put_element(out, element_type, static_cast<const T&>(item))) return false;
    return true;
}

template <typename T>
constexpr bool kIsVector = false;
template <typename T>
constexpr bool kIsVector<std::vector<T>> = true;

bool put_value(std::string& out, const Value& value) {
    put(out, static_cast<std::uint32_t>(value.type));
    return std::visit(
        [&](const auto& data) {
            if constexpr (kIsVector<std::decay_t<decltype(data)>>) {
                return value.type == ValueType::array && put_array(out, value.element_type, data);
            } else {
                return put_element(out, value.type, data);
            }
        },
        value.data);
}

Result<void> put_metadata(std::string& out, const Metadata& metadata) {
    if (metadata.values().size() > kMaxKeys) return bad_plan("it has too many metadata keys");
    for (const auto& [key, value] : metadata.values()) {
        if (const std::string fault = name_fault("a metadata entry", key); !fault.empty())
            return bad_plan(fault);
        if (key.size() > kMaxNameBytes) return bad_plan("metadata " + quoted(key) + " is too long");
        put_string(out, key);
        if (!put_value(out, value))
            return bad_plan("metadata " + quoted(key) + " does not fit its type " +
                            std::string(to_string(value.type)));
    }
    return {};
}

Result<void> put_directory(std::string& out, const std::vector<TensorPlan>& tensors,
                           std::uint64_t alignment) {
    if (tensors.size() > kMaxTensors) return bad_plan("it has too many tensors");
    std::set<std::string_view> names;
    Checked offset = 0;
    for (const TensorPlan& tensor : tensors) {
        const std::string what = "tensor " + quoted(tensor.name);
        if (const std::string fault = name_fault("a tensor", tensor.name); !fault.empty())
            return bad_plan(fault);
        if (!names.insert(tensor.name).second) return bad_plan(what + " is there twice");
        std::uint64_t bytes = 0;
        const TensorShape shape = {.type = tensor.type, .dims = tensor.dims};
        if (const std::string fault = shape_fault(what, shape, bytes); !fault.empty())
            return bad_plan(fault);

        put_string(out, tensor.name);
        put(out, static_cast<std::uint32_t>(tensor.dims.size()));
        for (const std::uint64_t dim : tensor.dims) put(out, dim);
        put(out, static_cast<std::uint32_t>(tensor.type));
        if (!offset.value()) return bad_plan("its size overflows");
        put(out, *offset.value());
        offset = (offset + bytes).align_up(alignment);
    }
    return {};
}

void pad(std::string& out, std::uint64_t alignment) {
    out.resize(hearth::align_up(out.size(), alignment), '\0');
}

}  // namespace

Result<Writer> Writer::create(const std::string& path, const Metadata& metadata,
                              std::vector<TensorPlan> tensors) {
    Writer writer;
    if (const std::string fault = alignment_fault(metadata, writer.alignment_); !fault.empty())
        return bad_plan(fault);
    std::string head(kMagic);
    put(head, kVersion);
    put(head, static_cast<std::uint64_t>(tensors.size()));
    put(head, static_cast<std::uint64_t>(metadata.values().size()));
    HEARTH_TRY_VOID(put_metadata(head, metadata));
    HEARTH_TRY_VOID(put_directory(head, tensors, writer.alignment_));
    pad(head, writer.alignment_);

    writer.path_ = path;
    writer.tensors_ = std::move(tensors);
    writer.file_.reset(std::fopen(path.c_str(), "wbe"));
    if (!writer.file_) return write_failed(path);
    if (std::fwrite(head.data(), 1, head.size(), writer.file_.get()) != head.size())
        return write_failed(path);
    return writer;
}

Result<void> Writer::append(std::span<const std::byte> data) {
    if (next_ >= tensors_.size()) return bad_plan("it has no more tensors to append");
    const TensorPlan& tensor = tensors_[next_];
    const std::string what = "tensor " + quoted(tensor.name);
    std::uint64_t bytes = 0;
    const TensorShape shape = {.type = tensor.type, .dims = tensor.dims};
    if (const std::string fault = shape_fault(what, shape, bytes); !fault.empty())
        return bad_plan(fault);
    if (data.size() != bytes)
        return bad_plan(what + " has " + std::to_string(data.size()) + " bytes, planned were " +
                        std::to_string(bytes));
    const std::string padding(hearth::align_up(bytes, alignment_) - bytes, '\0');
    if (std::fwrite(data.data(), 1, data.size(), file_.get()) != data.size() ||
        std::fwrite(padding.data(), 1, padding.size(), file_.get()) != padding.size())
        return write_failed(path_);
    ++next_;
    return {};
}

Result<void> Writer::finish() {
    if (next_ != tensors_.size())
        return bad_plan("tensor " + quoted(tensors_[next_].name) + " has not been appended");
    if (std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0)
        return write_failed(path_);
    return {};
}

}  // namespace hearth::gguf
