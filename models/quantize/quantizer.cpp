#include "models/quantize/quantizer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mapped_file.h"
#include "engine/gguf/reader.h"
#include "engine/gguf/writer.h"
#include "engine/quant/traits.h"

namespace hearth::quantize {
namespace {

constexpr std::string_view kFileTypeKey = "general.file_type";
constexpr std::string_view kQuantizationVersionKey = "general.quantization_version";
constexpr std::uint64_t kQuantizationVersion = 2;  // of all block formats that engine/quant knows

// Elements that a thread converts at once: a multiple of every block size, small enough for the
// first-level cache.
constexpr std::size_t kChunk = 4096;

// The numbers that GGUF's general.file_type has for "mostly this type".
std::uint64_t file_type(DType type) {
    switch (type) {
        case DType::f32:
            return 0;
        case DType::f16:
            return 1;
        case DType::q4_0:
            return 2;
        case DType::q4_1:
            return 3;
        case DType::q8_0:
            return 7;
        case DType::q5_0:
            return 8;
        case DType::q5_1:
            return 9;
        case DType::q4_k:
            return 14;  // the "small" kind: no tensor with more bits
        case DType::q5_k:
            return 16;
        case DType::q6_k:
            return 18;
        case DType::bf16:
            return 32;
    }
    std::abort();
}

gguf::Metadata with_type(const gguf::Metadata& metadata, DType type) {
    gguf::Metadata out;
    const auto u32 = [](std::uint64_t number) {
        return gguf::Value{.type = gguf::ValueType::u32, .data = number};
    };
    out.insert(std::string(kFileTypeKey), u32(file_type(type)));
    out.insert(std::string(kQuantizationVersionKey), u32(kQuantizationVersion));
    for (const auto& [key, value] : metadata.values()) out.insert(key, value);  // first one stays
    return out;
}

struct Conversion {
    const quant::Traits& from;
    const quant::Traits& to;
    std::span<const std::byte> in;
    std::span<std::byte> out;
    std::size_t elements;
};

std::size_t bytes_of(const quant::Traits& type, std::size_t elements) {
    const DTypeInfo& info = dtype_info(type.type);
    return elements / static_cast<std::size_t>(info.block_elements) *
           static_cast<std::size_t>(info.block_bytes);
}

struct Range {
    std::size_t begin;  // in elements, a multiple of kChunk
    std::size_t end;
};

// False when a weight is no finite number, before or after packing (a float may overflow an f16).
bool convert(const Conversion& c, Range range) {
    std::array<float, kChunk> floats;
    for (std::size_t at = range.begin; at < range.end; at += kChunk) {
        const std::size_t count = std::min(kChunk, range.end - at);
        std::byte* out = c.out.data() + bytes_of(c.to, at);
        c.from.unpack(c.in.data() + bytes_of(c.from, at), count, floats.data());
        for (std::size_t i = 0; i < count; ++i)
            if (!std::isfinite(floats[i])) return false;
        c.to.pack(floats.data(), count, out);
        if (c.to.type == DType::f16 || c.to.type == DType::bf16) {
            c.to.unpack(out, count, floats.data());
            for (std::size_t i = 0; i < count; ++i)
                if (!std::isfinite(floats[i])) return false;
        }
    }
    return true;
}

// One half on a second thread, the other here.
bool convert_on_two_threads(const Conversion& c) {
    const std::size_t chunks = ceil_div(c.elements, kChunk);
    const std::size_t middle = std::min(chunks / 2 * kChunk, c.elements);
    if (middle == 0) return convert(c, {.begin = 0, .end = c.elements});
    bool first = false;
    std::thread other([&] { first = convert(c, {.begin = 0, .end = middle}); });
    const bool second = convert(c, {.begin = middle, .end = c.elements});
    other.join();
    return first && second;
}

Result<void> append_converted(gguf::Writer& writer, const gguf::File& file,
                              const gguf::TensorInfo& tensor, DType type) {
    const quant::Traits& to = quant::traits(type);
    const std::size_t elements = tensor.cols() * tensor.rows();
    HEARTH_TRY(auto packed, AlignedBuffer::allocate(bytes_of(to, elements)));
    const Conversion conversion = {.from = quant::traits(tensor.type),
                                   .to = to,
                                   .in = file.data(tensor),
                                   .out = packed.bytes(),
                                   .elements = elements};
    if (!convert_on_two_threads(conversion))
        return Error{ErrorCode::numeric_error,
                     "tensor '" + tensor.name +
                         "' has a weight that is no finite number or does "
                         "not fit " +
                         std::string(to_string(type))};
    return writer.append(packed.bytes());
}

struct Job {
    const gguf::File& file;
    DType type;
    const ProgressSink& progress;
};

Result<RequantizeReport> write_file(const Job& job, const std::string& path) {
    Plan plan = make_plan(job.file.tensors(), job.type);
    RequantizeReport report = {};
    report.fallbacks = std::move(plan.fallbacks);
    RequantizeProgress progress = {};
    for (const gguf::TensorInfo& tensor : job.file.tensors())
        progress.elements_total += tensor.cols() * tensor.rows();

    HEARTH_TRY(auto writer,
               gguf::Writer::create(path, with_type(job.file.metadata(), job.type), plan.tensors));
    for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
        const gguf::TensorInfo& tensor = job.file.tensors()[i];
        if (plan.tensors[i].type == tensor.type) {
            HEARTH_TRY_VOID(writer.append(job.file.data(tensor)));
            ++report.tensors_copied;
        } else {
            HEARTH_TRY_VOID(append_converted(writer, job.file, tensor, plan.tensors[i].type));
            ++report.tensors_converted;
        }
        progress.elements_done += tensor.cols() * tensor.rows();
        if (job.progress) job.progress(progress);
    }
    HEARTH_TRY_VOID(writer.finish());
    return report;
}

Error failed_on(const std::string& path, const std::string& what, const std::error_code& reason) {
    return Error{ErrorCode::io_failed, "cannot " + what + " '" + path + "': " + reason.message()};
}

// Renames, then syncs the folder: only then does the new name survive a power cut.
Result<void> put_in_place(const std::string& temporary, const std::string& path) {
    std::error_code failure;
    std::filesystem::rename(temporary, path, failure);
    if (failure) return failed_on(path, "put in place", failure);
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return failed_on(folder, "open", {errno, std::generic_category()});
    const int synced = fsync(descriptor);
    const int reason = errno;
    close(descriptor);
    if (synced != 0) return failed_on(folder, "sync", {reason, std::generic_category()});
    return {};
}

}  // namespace

Result<RequantizeReport> requantize(const std::string& in_path, const std::string& out_path,
                                    DType type, const ProgressSink& progress) {
    HEARTH_TRY(const auto mapped, MappedFile::open(in_path));
    std::error_code ignored;  // an output that is not there yet is another file
    if (std::filesystem::equivalent(in_path, out_path, ignored))
        return Error{ErrorCode::bad_input,
                     "'" + out_path + "' is the input itself; name another file to write to"};
    HEARTH_TRY(const auto file, gguf::File::read(mapped.bytes()));

    const std::string temporary = out_path + ".part-" + std::to_string(getpid());
    auto report = write_file({.file = file, .type = type, .progress = progress}, temporary);
    std::error_code failure;
    if (report) {
        report->bytes_in = mapped.bytes().size();
        report->bytes_out = std::filesystem::file_size(temporary, failure);
        if (const auto placed = put_in_place(temporary, out_path); !placed) report = placed.error();
    }
    if (!report) std::filesystem::remove(temporary, failure);
    return report;
}

}  // namespace hearth::quantize
