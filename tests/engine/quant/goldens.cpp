#include "tests/engine/quant/goldens.h"

#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

namespace hearth::quant {
namespace {

class Source {
public:
    explicit Source(const std::string& name) {
        std::ifstream file(std::string(HEARTH_SOURCE_DIR "/tests/data/quant/") + name,
                           std::ios::binary);
        if (!file) throw std::runtime_error("cannot open " + name);
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
    }

    bool done() const { return at_ == bytes_.size(); }

    std::uint32_t number() { return items<std::uint32_t>(1).front(); }

    template <typename T>
    std::vector<T> items(std::size_t count) {
        if (bytes_.size() - at_ < count * sizeof(T)) throw std::runtime_error("golden cut short");
        std::vector<T> out(count);
        std::memcpy(out.data(), bytes_.data() + at_, count * sizeof(T));
        at_ += count * sizeof(T);
        return out;
    }

private:
    std::vector<char> bytes_;
    std::size_t at_ = 0;
};

}  // namespace

std::vector<UnpackGolden> read_unpack_goldens() {
    Source source("unpack.bin");
    std::vector<UnpackGolden> out;
    while (!source.done()) {
        UnpackGolden golden;
        golden.type = dtype_from_id(source.number()).value();
        const std::uint32_t elements = source.number();
        const std::uint32_t bytes = source.number();
        golden.blocks = source.items<std::byte>(bytes);
        golden.floats = source.items<float>(elements);
        out.push_back(std::move(golden));
    }
    return out;
}

PackGoldens read_pack_goldens() {
    Source source("pack.bin");
    PackGoldens out;
    out.input = source.items<float>(source.number());
    while (!source.done()) {
        PackGolden golden;
        golden.type = dtype_from_id(source.number()).value();
        golden.blocks = source.items<std::byte>(source.number());
        out.outputs.push_back(std::move(golden));
    }
    return out;
}

std::string name_of(DType type) { return std::string(to_string(type)); }

}  // namespace hearth::quant
