#include "models/library/ids.h"

namespace hearth::library {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_mark(char c) { return c == '-' || c == '.' || c == '_'; }

}  // namespace

bool is_valid_id(std::string_view id) {
    if (id.empty() || id.size() > kMaxIdBytes || !is_word(id.front())) return false;
    for (const char c : id)
        if (!is_word(c) && !is_mark(c)) return false;
    return true;
}

std::string id_from_name(std::string_view name) {
    std::string id;
    for (char c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        const bool keep = is_word(c) || (c == '.' && !id.empty() && is_word(id.back()));
        if (keep)
            id += c;
        else if (!id.empty() && id.back() != '-')
            id += '-';
        if (id.size() == kMaxIdBytes - 8) break;  // room for a number behind it
    }
    while (!id.empty() && !is_word(id.back())) id.pop_back();
    return id.empty() ? "model" : id;
}

std::string free_id(const std::string& id, const std::function<bool(const std::string&)>& taken) {
    if (!taken(id)) return id;
    for (int number = 2;; ++number) {
        std::string candidate = id + "-" + std::to_string(number);
        if (!taken(candidate)) return candidate;
    }
}

}  // namespace hearth::library
