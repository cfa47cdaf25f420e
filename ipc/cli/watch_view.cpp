#include "ipc/cli/watch_view.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "ipc/cli/output.h"

namespace hearth::cli {
namespace {

namespace events = protocol::events;

constexpr std::size_t kEnded = 5;

std::string decimal(double value) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

// The first `columns` characters.
std::string cut(const std::string& line, std::size_t columns) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U;
        if (begins && seen++ == columns) return line.substr(0, i);
    }
    return line;
}

// Reads a struct of ipc/protocol; what does not fit gives the empty one.
template <typename Read>
auto read_from(const boost::json::value& data, Read read) {
    static const boost::json::object nothing;
    const boost::json::object* object = data.if_object();
    protocol::Fields fields(object == nullptr ? nothing : *object);
    return read(fields);
}

std::string id_of(const boost::json::value& data) {
    return read_from(data, [](protocol::Fields& fields) { return fields.text("id").value_or(""); });
}

std::string describe(const protocol::GenerationInfo& info) {
    std::string text = "#" + std::to_string(info.generation) + " " + printable(info.model);
    if (!info.client.empty()) text += " for " + printable(info.client);
    return text;
}

std::string describe_end(const protocol::GenerationInfo& info) {
    std::string text = describe(info) + ": " + printable(info.state);
    if (!info.error.empty()) text += " (" + printable(info.error) + ")";
    text += ", " + std::to_string(info.prompt_tokens) + " + " +
            std::to_string(info.generated_tokens) + " tokens";
    if (info.generated_tokens > 0)
        text += ", first after " + decimal(info.first_token_ms) + " ms, all in " +
                decimal(info.age_ms) + " ms";
    return text;
}

}  // namespace

void WatchView::apply(const client::ServerEvent& event, const boost::json::value& data) {
    line_.clear();
    if (event.name == events::kSnapshot) {
        state_ = read_from(data, protocol::read_snapshot);
        line_ = "hearthd " + state_.status.version + ", pid " + std::to_string(state_.status.pid) +
                "; models: " + std::to_string(state_.models.size()) + " installed, " +
                std::to_string(state_.status.models.size()) +
                " loaded; requests: " + std::to_string(state_.generations.size()) + " running";
    } else if (event.name == events::kMetrics) {
        sample_ = read_from(data, protocol::read_metrics_sample);
    } else if (event.name == events::kModelState) {
        take_model_state(read_from(data, protocol::read_loaded_model));
    } else if (event.name == events::kModelAdded) {
        state_.models.push_back(read_from(data, protocol::read_model_entry));
        line_ = "model added: " + printable(state_.models.back().id);
    } else if (event.name == events::kModelRemoved) {
        const std::string id = id_of(data);
        std::erase_if(state_.models, [&](const auto& model) { return model.id == id; });
        line_ = "model removed: " + printable(id);
    } else if (event.name == events::kDefaultChanged) {
        const std::string id = id_of(data);
        line_ = "default model: " + (id.empty() ? "none" : printable(id));
    } else if (event.name.starts_with("generation_")) {
        take_generation(event.name, read_from(data, protocol::read_generation_info));
    } else if (event.name == events::kImportStarted || event.name == events::kImportEnded) {
        const auto info = read_from(data, protocol::read_import_info);
        line_ = (event.name == events::kImportStarted ? "importing " : "imported ") +
                printable(info.file) +
                (info.error.empty() ? "" : ": failed (" + printable(info.error) + ")");
    } else if (event.name == events::kStopping) {
        line_ = "hearthd is stopping";
    }
}

void WatchView::take_model_state(protocol::LoadedModel model) {
    line_ = printable(model.id) + ": " + printable(model.state);
    auto& loaded = state_.status.models;
    const auto found = std::ranges::find(loaded, model.id, &protocol::LoadedModel::id);
    if (model.state == "gone") {
        if (found != loaded.end()) loaded.erase(found);
    } else if (found != loaded.end()) {
        *found = std::move(model);
    } else {
        loaded.push_back(std::move(model));
    }
}

void WatchView::take_generation(const std::string& name, protocol::GenerationInfo info) {
    std::erase_if(state_.generations,
                  [&](const auto& one) { return one.generation == info.generation; });
    if (name == events::kGenerationEnded) {
        line_ = describe_end(info);
        ended_.push_front(line_);
        if (ended_.size() > kEnded) ended_.pop_back();
        return;
    }
    if (name == events::kGenerationStarted) line_ = describe(info) + ": started";
    state_.generations.push_back(std::move(info));
}

void WatchView::add_head(std::vector<std::string>& lines) const {
    const protocol::Status& status = state_.status;
    lines.push_back("hearthd " + printable(status.version) + ", pid " + std::to_string(status.pid) +
                    ", " + human_size(sample_.daemon_resident_bytes) + "; workers " +
                    human_size(sample_.worker_resident_bytes) +
                    "; models: " + std::to_string(state_.models.size()) + " installed");
    std::string speed = decimal(sample_.generation_tokens_per_second) + " tokens/s, prompts " +
                        decimal(sample_.prompt_tokens_per_second) + " tokens/s";
    if (sample_.gap_p50_ms && sample_.gap_p95_ms)
        speed += "; between tokens " + decimal(*sample_.gap_p50_ms) + " ms, 95 % under " +
                 decimal(*sample_.gap_p95_ms) + " ms";
    lines.push_back(std::move(speed));
    lines.push_back(std::to_string(sample_.running) + " running, " +
                    std::to_string(sample_.queued) + " queued");
}

void WatchView::add_models(std::vector<std::string>& lines) const {
    std::vector<std::vector<std::string>> rows;
    for (const protocol::LoadedModel& model : state_.status.models) {
        const auto found = std::ranges::find(sample_.models, model.id, &protocol::ModelSample::id);
        const bool has_sample = found != sample_.models.end();
        const protocol::ModelSample sample = has_sample ? *found : protocol::ModelSample{};
        rows.push_back({printable(model.id), printable(model.state), std::to_string(sample.running),
                        decimal(sample.generation_tokens_per_second),
                        sample.pages_used_percent ? decimal(*sample.pages_used_percent) + " %" : "",
                        human_size(sample.resident_bytes), std::to_string(model.context)});
    }
    if (rows.empty()) {
        lines.emplace_back("No model is loaded.");
        return;
    }
    for (std::string& line : table_lines({{"MODEL"},
                                          {"STATE"},
                                          {"RUNNING", true},
                                          {"TOKENS/S", true},
                                          {"PAGES", true},
                                          {"MEMORY", true},
                                          {"CONTEXT", true}},
                                         rows))
        lines.push_back(std::move(line));
}

void WatchView::add_generations(std::vector<std::string>& lines) const {
    std::vector<std::vector<std::string>> rows;
    for (const protocol::GenerationInfo& info : state_.generations)
        rows.push_back({std::to_string(info.generation), printable(info.model),
                        printable(info.client), printable(info.priority), printable(info.state),
                        info.prompt_tokens > 0 ? std::to_string(info.prompt_tokens) : ""});
    for (std::string& line : table_lines(
             {{"REQUEST", true}, {"MODEL"}, {"FOR"}, {"CLASS"}, {"STATE"}, {"PROMPT", true}}, rows))
        lines.push_back(std::move(line));
}

std::vector<std::string> WatchView::screen(std::size_t columns, std::size_t rows) const {
    std::vector<std::string> lines;
    add_head(lines);
    lines.emplace_back();
    add_models(lines);
    lines.emplace_back();
    if (!ended_.empty()) {
        lines.emplace_back("Last requests:");
        lines.insert(lines.end(), ended_.begin(), ended_.end());
        lines.emplace_back();
    }
    if (!state_.generations.empty()) add_generations(lines);
    if (lines.size() > rows) lines.resize(rows);
    for (std::string& line : lines) line = cut(line, columns);
    return lines;
}

}  // namespace hearth::cli
