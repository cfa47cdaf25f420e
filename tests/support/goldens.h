// Files that other programs made for tests: JSON, and raw floats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

namespace hearth::testing {

// The whole file; ends the test program when it cannot be read, since tests/data is part of the
// source.
std::string read_file(const std::string& path);
boost::json::value read_json(const std::string& path);
std::vector<std::int32_t> int_list(const boost::json::value& list);
std::vector<float> float_list(const boost::json::value& list);

// One case of tests/data/models/goldens.json.
struct GoldenLogits {
    std::string model;
    std::string name;
    std::vector<std::int32_t> ids;
    int first;  // position of the first row of logits; the last row is that of the last id
    int vocabulary;
    std::vector<float> logits;  // [ids.size() - first, vocabulary]
};
std::vector<GoldenLogits> golden_logits();

}  // namespace hearth::testing
