// A GGUF file with something changed: keys set or left out, tensors edited.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/gguf/reader.h"
#include "engine/gguf/writer.h"

namespace hearth::testing {

gguf::Value integer_value(std::int64_t value);
gguf::Value number_value(double value);
gguf::Value boolean_value(bool value);
gguf::Value string_value(std::string value);

struct ChangedKey {
    std::string key;
    std::optional<gguf::Value> value;  // absent: the key is left out
};
struct EditableTensor {
    gguf::TensorPlan plan;
    std::vector<std::byte> data;
};
struct Changes {
    std::vector<ChangedKey> keys = {};
    std::function<void(std::vector<EditableTensor>&)> edit = nullptr;
};

// Writes `from` with the changes to `to`; ends the test program when that fails.
void write_changed(const std::string& from, const std::string& to, const Changes& changes);

}  // namespace hearth::testing
