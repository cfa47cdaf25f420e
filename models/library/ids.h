// Ids of packages: what requests name. Never paths: lower-case letters, digits, '-', '.' and '_',
// starting with a letter or digit, at most 100 bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hearth::library {

constexpr std::size_t kMaxIdBytes = 100;

bool is_valid_id(std::string_view id);

// The id that a name gives: "SmolLM2 135M Instruct" → "smollm2-135m-instruct". Runs of other
// characters become one '-'. A name without a usable character gives "model".
std::string id_from_name(std::string_view name);

// `id`, or `id-2`, `id-3`, … : the first that is not taken.
std::string free_id(const std::string& id, const std::function<bool(const std::string&)>& taken);

}  // namespace hearth::library
