#include "engine/gguf/reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/units.h"
#include "engine/gguf/cursor.h"
#include "engine/gguf/guess_format.h"
#include "engine/gguf/layout.h"
#include "engine/gguf/text.h"

namespace hearth::gguf {
namespace {

constexpr std::string_view kSwappedMagic = "FUGG";

// The fewest bytes that one item takes in a file; a count of more than fit is refused before
// anything is allocated.
constexpr std::uint64_t kMinKeyBytes = 8 + 1 + 4 + 1;             // length, one letter, type, value
constexpr std::uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;  // with one dimension

Error corrupt(const std::string& what) {
    return Error{ErrorCode::model_corrupt, "the model file is damaged: " + what};
}

// Bytes of a scalar; nothing for strings, arrays and unknown types.
std::optional<std::uint64_t> scalar_bytes(ValueType type) {
    switch (type) {
        case ValueType::u8:
        case ValueType::i8:
        case ValueType::boolean:
            return 1;
        case ValueType::u16:
        case ValueType::i16:
            return 2;
        case ValueType::u32:
        case ValueType::i32:
        case ValueType::f32:
            return 4;
        case ValueType::u64:
        case ValueType::i64:
        case ValueType::f64:
            return 8;
        case ValueType::string:
        case ValueType::array:
            break;
    }
    return std::nullopt;
}

Result<bool> read_bool(Cursor& cursor, std::string_view what) {
    HEARTH_TRY(const auto byte, cursor.read<std::uint8_t>(what));
    if (byte > 1) return corrupt(std::string(what) + " is a bool of value " + std::to_string(byte));
    return byte == 1;
}

// Calls `use` with a reader that yields one element of `type`, widened.
template <typename Stored, typename Wide>
struct Widened {
    using Type = Wide;
    static Result<Wide> read(Cursor& cursor, std::string_view what) {
        HEARTH_TRY(const auto value, cursor.read<Stored>(what));
        return static_cast<Wide>(value);
    }
};
struct Flag {
    using Type = bool;
    static Result<bool> read(Cursor& cursor, std::string_view what) {
        return read_bool(cursor, what);
    }
};
struct Text {
    using Type = std::string;
    static Result<std::string> read(Cursor& cursor, std::string_view what) {
        HEARTH_TRY(const auto text, cursor.read_string(what, kMaxStringBytes));
        return std::string(text);
    }
};

template <typename Use>
Result<void> with_element(ValueType type, std::string_view what, const Use& use) {
    switch (type) {
        case ValueType::u8:
            return use(Widened<std::uint8_t, std::uint64_t>());
        case ValueType::i8:
            return use(Widened<std::int8_t, std::int64_t>());
        case ValueType::u16:
            return use(Widened<std::uint16_t, std::uint64_t>());
        case ValueType::i16:
            return use(Widened<std::int16_t, std::int64_t>());
        case ValueType::u32:
            return use(Widened<std::uint32_t, std::uint64_t>());
        case ValueType::i32:
            return use(Widened<std::int32_t, std::int64_t>());
        case ValueType::u64:
            return use(Widened<std::uint64_t, std::uint64_t>());
        case ValueType::i64:
            return use(Widened<std::int64_t, std::int64_t>());
        case ValueType::f32:
            return use(Widened<float, double>());
        case ValueType::f64:
            return use(Widened<double, double>());
        case ValueType::boolean:
            return use(Flag());
        case ValueType::string:
            return use(Text());
        case ValueType::array:
            break;
    }
    return corrupt(std::string(what) + " has a value of unknown type " +
                   std::to_string(static_cast<std::uint32_t>(type)));
}

Result<void> read_array(Cursor& cursor, std::string_view what, Value& value) {
    HEARTH_TRY(const auto element_type, cursor.read<std::uint32_t>(what));
    value.element_type = ValueType{element_type};
    if (value.element_type == ValueType::array)
        return corrupt(std::string(what) + " is an array of arrays, which is not read here");
    return with_element(value.element_type, what, [&](auto element) -> Result<void> {
        using Element = decltype(element);
        constexpr std::uint64_t kLengthBytes = 8;  // an empty string still has its length
        const std::uint64_t item = scalar_bytes(value.element_type).value_or(kLengthBytes);
        HEARTH_TRY(const auto count, cursor.read_count(what, item, kMaxArrayElements));
        std::vector<typename Element::Type> items;
        items.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            HEARTH_TRY(auto item_value, Element::read(cursor, what));
            items.push_back(std::move(item_value));
        }
        value.data = std::move(items);
        return {};
    });
}

Result<Value> read_value(Cursor& cursor, std::string_view what) {
    HEARTH_TRY(const auto type, cursor.read<std::uint32_t>(what));
    Value value = {.type = ValueType{type}, .data = std::uint64_t{0}};
    if (value.type == ValueType::array) {
        HEARTH_TRY_VOID(read_array(cursor, what, value));
        return value;
    }
    HEARTH_TRY_VOID(with_element(value.type, what, [&](auto element) -> Result<void> {
        HEARTH_TRY(auto scalar, decltype(element)::read(cursor, what));
        value.data = std::move(scalar);
        return {};
    }));
    return value;
}

Result<std::string_view> read_name(Cursor& cursor, const std::string& what) {
    HEARTH_TRY(const auto name, cursor.read_string("the name of " + what, kMaxNameBytes));
    if (const std::string fault = name_fault(what, name); !fault.empty()) return corrupt(fault);
    return name;
}

Result<Metadata> read_metadata(Cursor& cursor, std::uint64_t count) {
    Metadata metadata;
    for (std::uint64_t i = 0; i < count; ++i) {
        HEARTH_TRY(const auto key, read_name(cursor, "metadata entry " + std::to_string(i)));
        HEARTH_TRY(auto value, read_value(cursor, "metadata " + quoted(key)));
        if (!metadata.insert(std::string(key), std::move(value)))
            return corrupt("metadata " + quoted(key) + " is there twice");
    }
    return metadata;
}

Result<void> read_dims(Cursor& cursor, TensorInfo& tensor) {
    const std::string what = "tensor " + quoted(tensor.name);
    HEARTH_TRY(const auto n_dims, cursor.read<std::uint32_t>(what));
    if (n_dims < 1 || n_dims > kMaxDims)
        return corrupt(what + " has " + std::to_string(n_dims) + " dimensions, expected 1 to 4");
    tensor.n_dims = static_cast<int>(n_dims);
    tensor.dims.fill(1);
    for (std::uint32_t i = 0; i < n_dims; ++i) {
        HEARTH_TRY(tensor.dims[i], cursor.read<std::uint64_t>(what));
    }
    return {};
}

Result<TensorInfo> read_tensor(Cursor& cursor, std::uint64_t index) {
    HEARTH_TRY(const auto name, read_name(cursor, "tensor " + std::to_string(index)));
    TensorInfo tensor = {.name = std::string(name),
                         .type = DType::f32,
                         .n_dims = 0,
                         .dims = {},
                         .offset = 0,
                         .bytes = 0};
    const std::string what = "tensor " + quoted(name);
    HEARTH_TRY_VOID(read_dims(cursor, tensor));

    HEARTH_TRY(const auto type_id, cursor.read<std::uint32_t>(what));
    const auto type = dtype_from_id(type_id);
    if (!type)
        return Error{ErrorCode::unsupported_model,
                     what + " has " + describe_unread_type(type_id) +
                         "; use a file of the model in Q4_0, Q8_0, Q4_K or Q6_K"};
    tensor.type = *type;
    const TensorShape shape = {.type = *type, .dims = tensor.dims};
    if (const std::string fault = shape_fault(what, shape, tensor.bytes); !fault.empty())
        return corrupt(fault);

    HEARTH_TRY(tensor.offset, cursor.read<std::uint64_t>(what));
    return tensor;
}

struct DataPart {
    Checked start;  // from the start of the file
    std::uint64_t alignment;
    std::uint64_t file_bytes;
};

// Turns offsets from relative to absolute. Tensors must lie in file order, so that one pass finds
// every overlap.
Result<void> place_tensors(std::vector<TensorInfo>& tensors, const DataPart& data) {
    std::uint64_t previous_end = 0;
    for (TensorInfo& tensor : tensors) {
        const std::string what = "tensor " + quoted(tensor.name);
        if (tensor.offset % data.alignment != 0)
            return corrupt(what + " starts at " + std::to_string(tensor.offset) +
                           ", not a multiple of the alignment " + std::to_string(data.alignment));
        const Checked start = data.start + tensor.offset;
        const Checked end = start + tensor.bytes;
        if (!end.at_most(data.file_bytes))
            return corrupt(what +
                           " reaches past the end of the file; it is cut short, fetch it again");
        if (*start.value() < previous_end)
            return corrupt(what + " overlaps the tensor before it or is out of order");
        tensor.offset = *start.value();
        previous_end = *end.value();
    }
    return {};
}

Result<std::uint32_t> read_version(Cursor& cursor) {
    HEARTH_TRY(const auto version, cursor.read<std::uint32_t>("the header"));
    if (version == 2 || version == 3) return version;
    if (version != 0 && (version & 0xffffU) == 0)
        return Error{ErrorCode::unsupported_version,
                     "this is a big-endian GGUF file; only little-endian files are read"};
    return Error{ErrorCode::unsupported_version, "this is a GGUF file of version " +
                                                     std::to_string(version) +
                                                     "; versions 2 and 3 are read"};
}

Result<void> check_magic(std::span<const std::byte> bytes) {
    // char may alias anything: a view of the file's first bytes as text.
    const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                                std::min(bytes.size(), kMagic.size()));
    if (head == kMagic) return {};
    if (head == kSwappedMagic)
        return Error{ErrorCode::unsupported_version,
                     "this is a big-endian GGUF file; only little-endian files are read"};
    if (!head.empty() && kMagic.starts_with(head))
        return corrupt("it has " + std::to_string(head.size()) + " bytes; fetch it again");
    return Error{ErrorCode::unsupported_format, "this is not a GGUF file: " + guess_format(bytes)};
}

}  // namespace

Result<File> File::read(std::span<const std::byte> bytes) {
    HEARTH_TRY_VOID(check_magic(bytes));
    Cursor cursor(bytes.subspan(kMagic.size()));
    File file;
    file.bytes_ = bytes;
    HEARTH_TRY(file.version_, read_version(cursor));
    HEARTH_TRY(const auto tensor_count,
               cursor.read_count("the tensor directory", kMinTensorBytes, kMaxTensors));
    HEARTH_TRY(const auto key_count, cursor.read_count("the metadata", kMinKeyBytes, kMaxKeys));
    HEARTH_TRY(file.metadata_, read_metadata(cursor, key_count));
    std::uint64_t alignment = kDefaultAlignment;
    if (const std::string fault = alignment_fault(file.metadata_, alignment); !fault.empty())
        return corrupt(fault);

    file.tensors_.reserve(tensor_count);
    for (std::uint64_t i = 0; i < tensor_count; ++i) {
        HEARTH_TRY(auto tensor, read_tensor(cursor, i));
        file.tensors_.push_back(std::move(tensor));
    }
    for (std::size_t i = 0; i < file.tensors_.size(); ++i)
        if (!file.by_name_.emplace(file.tensors_[i].name, i).second)
            return corrupt("tensor " + quoted(file.tensors_[i].name) + " is there twice");

    const Checked header_end = Checked(kMagic.size()) + cursor.position();
    HEARTH_TRY_VOID(place_tensors(file.tensors_, {.start = header_end.align_up(alignment),
                                                  .alignment = alignment,
                                                  .file_bytes = bytes.size()}));
    return file;
}

const TensorInfo* File::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

}  // namespace hearth::gguf
