// Reads golden files.
#include "tests/support/goldens.h"

#include <cstring>
#include <fstream>
#include <iterator>

#include "engine/base/check.h"
#include "tests/support/paths.h"

namespace hearth::testing {

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    HEARTH_CHECK(in.good());
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

boost::json::value read_json(const std::string& path) {
    return boost::json::parse(read_file(path));
}

std::vector<std::int32_t> int_list(const boost::json::value& list) {
    return boost::json::value_to<std::vector<std::int32_t>>(list);
}

std::vector<float> float_list(const boost::json::value& list) {
    std::vector<float> out;
    for (const auto& item : list.as_array()) out.push_back(item.to_number<float>());
    return out;
}

std::vector<GoldenLogits> golden_logits() {
    const boost::json::value json = read_json(test_data("models/goldens.json"));
    std::vector<GoldenLogits> cases;
    for (const auto& item : json.at("cases").as_array()) {
        GoldenLogits& golden = cases.emplace_back();
        golden.model = item.at("model").as_string();
        golden.name = item.at("case").as_string();
        golden.ids = int_list(item.at("ids"));
        golden.first = item.at("first").to_number<int>();
        golden.vocabulary = json.at("vocabulary").to_number<int>();
        const std::string bytes =
            read_file(test_data("models/" + std::string(item.at("file").as_string())));
        golden.logits.resize(bytes.size() / sizeof(float));
        std::memcpy(golden.logits.data(), bytes.data(), golden.logits.size() * sizeof(float));
    }
    return cases;
}

}  // namespace hearth::testing
