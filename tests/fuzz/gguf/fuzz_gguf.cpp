// T020. Any bytes as a GGUF file: an error or a File whose every tensor can be read to its last
// byte. What is read is written again and must come back the same.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/mapped_file.h"
#include "engine/gguf/reader.h"
#include "engine/gguf/writer.h"
#include "engine/quant/traits.h"

namespace hearth::gguf {
namespace {

constexpr IntRange kAny = {INT64_MIN, INT64_MAX};

// Every getter on every key: none may fail in another way than by its Result.
void look_up(const Metadata& metadata) {
    for (const auto& [key, value] : metadata.values()) {
        HEARTH_CHECK(metadata.has(key));
        const int found =
            metadata.integer(key, kAny).has_value() + metadata.number_or(key, 0.0F).has_value() +
            metadata.boolean_or(key, false).has_value() + metadata.string(key).has_value() +
            metadata.strings(key).has_value() + metadata.integers(key).has_value();
        HEARTH_CHECK(found <= 1);  // no value is of two types
        static_cast<void>(metadata.numbers(key).has_value());
    }
}

void unpack_tensors(const File& file) {
    std::vector<float> floats;
    for (const TensorInfo& tensor : file.tensors()) {
        HEARTH_CHECK(file.find(tensor.name) == &tensor);
        floats.resize(tensor.cols());
        const std::size_t row_size = tensor.bytes / tensor.rows();
        const std::span<const std::byte> last = file.data(tensor).last(row_size);
        quant::traits(tensor.type).unpack(last.data(), tensor.cols(), floats.data());
    }
}

void write_again(const File& file) {
    const int memory = memfd_create("gguf", MFD_CLOEXEC);  // a file without a disk
    HEARTH_CHECK(memory >= 0);
    const std::string path = "/proc/self/fd/" + std::to_string(memory);
    std::vector<TensorPlan> plan;
    for (const TensorInfo& tensor : file.tensors())
        plan.push_back(
            {tensor.name, tensor.type, {tensor.dims.begin(), tensor.dims.begin() + tensor.n_dims}});
    auto writer = Writer::create(path, file.metadata(), plan);
    HEARTH_CHECK(writer.has_value());
    for (const TensorInfo& tensor : file.tensors())
        HEARTH_CHECK(writer->append(file.data(tensor)).has_value());
    HEARTH_CHECK(writer->finish().has_value());

    const auto mapped = MappedFile::from_descriptor(memory, path);
    HEARTH_CHECK(mapped.has_value());
    const auto again = File::read(mapped->bytes());
    HEARTH_CHECK(again.has_value());
    HEARTH_CHECK(again->tensors().size() == file.tensors().size());
    HEARTH_CHECK(again->metadata().values().size() == file.metadata().values().size());
    close(memory);
}

}  // namespace
}  // namespace hearth::gguf

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto file = hearth::gguf::File::read(bytes);
    if (!file) {
        HEARTH_CHECK(!file.error().message.empty());
        return 0;
    }
    hearth::gguf::look_up(file->metadata());
    hearth::gguf::unpack_tensors(*file);
    hearth::gguf::write_again(*file);
    return 0;
}
