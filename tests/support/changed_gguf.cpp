// Copies a GGUF file with changes.
#include "tests/support/changed_gguf.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/base/mapped_file.h"

namespace hearth::testing {

namespace {
gguf::Value value_of(gguf::ValueType type, auto data) {
    gguf::Value out{};
    out.type = type;
    out.data = std::move(data);
    return out;
}
}  // namespace

gguf::Value integer_value(std::int64_t value) { return value_of(gguf::ValueType::i64, value); }
gguf::Value number_value(double value) { return value_of(gguf::ValueType::f32, value); }
gguf::Value boolean_value(bool value) { return value_of(gguf::ValueType::boolean, value); }
gguf::Value string_value(std::string value) {
    return value_of(gguf::ValueType::string, std::move(value));
}

void write_changed(const std::string& from, const std::string& to, const Changes& changes) {
    const MappedFile mapped = std::move(MappedFile::open(from)).value();
    const gguf::File file = std::move(gguf::File::read(mapped.bytes())).value();
    std::vector<EditableTensor> tensors;
    for (const gguf::TensorInfo& info : file.tensors()) {
        const auto data = file.data(info);
        const std::vector<std::uint64_t> dims(info.dims.begin(), info.dims.begin() + info.n_dims);
        tensors.push_back({{info.name, info.type, dims}, {data.begin(), data.end()}});
    }
    if (changes.edit) changes.edit(tensors);

    gguf::Metadata metadata;
    for (const ChangedKey& change : changes.keys)
        if (change.value) metadata.insert(change.key, *change.value);
    for (const auto& [key, value] : file.metadata().values()) {
        bool is_changed = false;
        for (const ChangedKey& change : changes.keys) is_changed = is_changed || change.key == key;
        if (!is_changed) metadata.insert(key, value);
    }
    std::vector<gguf::TensorPlan> plans;
    for (const EditableTensor& tensor : tensors) plans.push_back(tensor.plan);
    gguf::Writer writer = std::move(gguf::Writer::create(to, metadata, plans)).value();
    for (const EditableTensor& tensor : tensors)
        HEARTH_CHECK(writer.append(tensor.data).has_value());
    HEARTH_CHECK(writer.finish().has_value());
}

}  // namespace hearth::testing
