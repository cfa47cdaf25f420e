// The fields of every message, listed once: the writer and the reader of codec.cpp both walk these
// lists. Private to this folder.
#pragma once

#include <concepts>
#include <type_traits>

#include "ipc/worker/messages.h"

namespace hearth::wire {

template <typename M, typename T>
concept Is = std::same_as<std::remove_const_t<M>, T>;

template <typename V, Is<Load> M>
void each_field(V& visit, M& m) {
    visit("name", m.name);
    visit("backend", m.backend);
    visit("threads", m.threads);
    visit("context", m.context);
    visit("kv_bytes", m.kv_bytes);
    visit("key_type", m.key_type);
    visit("value_type", m.value_type);
    visit("max_sequences", m.max_sequences);
}
template <typename V, Is<Sampling> M>
void each_field(V& visit, M& m) {
    visit("temperature", m.temperature);
    visit("top_k", m.top_k);
    visit("top_p", m.top_p);
    visit("min_p", m.min_p);
    visit("repetition_penalty", m.repetition_penalty);
    visit("presence_penalty", m.presence_penalty);
    visit("frequency_penalty", m.frequency_penalty);
    visit("logit_bias", m.logit_bias);
    visit("seed", m.seed);
    visit("choice", m.choice);
}
template <typename V, Is<ChatPrompt> M>
void each_field(V& visit, M& m) {
    visit("variables", m.variables);
}
template <typename V, Is<TextPrompt> M>
void each_field(V& visit, M& m) {
    visit("text", m.text);
    visit("parse_special", m.parse_special);
}
template <typename V, Is<IdsPrompt> M>
void each_field(V& visit, M& m) {
    visit("ids", m.ids);
}
template <typename V, Is<Generate> M>
void each_field(V& visit, M& m) {
    visit("prompt", m.prompt);
    visit("generated", m.generated);
    visit("sampling", m.sampling);
    visit("max_tokens", m.max_tokens);
    visit("stop", m.stop);
    visit("logprobs", m.logprobs);
    visit("ignore_end", m.ignore_end);
    visit("priority", m.priority);
    visit("client", m.client);
    visit("cache_salt", m.cache_salt);
    visit("credit", m.credit);
}
template <typename V, Is<Cancel> M>
void each_field(V&, M&) {}
template <typename V, Is<Credit> M>
void each_field(V& visit, M& m) {
    visit("deltas", m.deltas);
}
template <typename V, Is<Shutdown> M>
void each_field(V&, M&) {}
template <typename V, Is<StatsRequest> M>
void each_field(V&, M&) {}
template <typename V, Is<Tokenize> M>
void each_field(V& visit, M& m) {
    visit("prompt", m.prompt);
    visit("add_bos", m.add_bos);
    visit("with_text", m.with_text);
    visit("with_pieces", m.with_pieces);
}
template <typename V, Is<Detokenize> M>
void each_field(V& visit, M& m) {
    visit("ids", m.ids);
}

template <typename V, Is<Sandbox> M>
void each_field(V& visit, M& m) {
    visit("no_new_privileges", m.no_new_privileges);
    visit("seccomp", m.seccomp);
    visit("landlock", m.landlock);
    visit("missing", m.missing);
}
template <typename V, Is<ModelInfo> M>
void each_field(V& visit, M& m) {
    visit("architecture", m.architecture);
    visit("name", m.name);
    visit("quantization", m.quantization);
    visit("backend", m.backend);
    visit("context", m.context);
    visit("trained_context", m.trained_context);
    visit("layers", m.layers);
    visit("width", m.width);
    visit("vocabulary", m.vocabulary);
    visit("parameters", m.parameters);
    visit("weight_bytes", m.weight_bytes);
    visit("kv_bytes_per_token", m.kv_bytes_per_token);
    visit("kv_bytes", m.kv_bytes);
    visit("has_chat_template", m.has_chat_template);
    visit("chat_unavailable", m.chat_unavailable);
    visit("fingerprint", m.fingerprint);
}
template <typename V, Is<Ready> M>
void each_field(V& visit, M& m) {
    visit("model", m.model);
    visit("sandbox", m.sandbox);
    visit("load_ms", m.load_ms);
}
template <typename V, Is<Error> M>
void each_field(V& visit, M& m) {
    visit("code", m.code);
    visit("message", m.message);
}
template <typename V, Is<Failed> M>
void each_field(V& visit, M& m) {
    visit("error", m.error);
}
template <typename V, Is<Failure> M>
void each_field(V& visit, M& m) {
    visit("error", m.error);
}
template <typename V, Is<Accepted> M>
void each_field(V& visit, M& m) {
    visit("prompt_tokens", m.prompt_tokens);
    visit("prompt_ids", m.prompt_ids);
}
template <typename V, Is<TokenLogprob> M>
void each_field(V& visit, M& m) {
    visit("id", m.id);
    visit("logprob", m.logprob);
    visit.hex("bytes", m.bytes);
}
template <typename V, Is<PickedLogprob> M>
void each_field(V& visit, M& m) {
    visit("logprob", m.logprob);
    visit.hex("bytes", m.bytes);
    visit("top", m.top);
}
template <typename V, Is<Delta> M>
void each_field(V& visit, M& m) {
    visit("number", m.number);
    visit("text", m.text);
    visit("ids", m.ids);
    visit("logprobs", m.logprobs);
}
template <typename V, Is<Timings> M>
void each_field(V& visit, M& m) {
    visit("prompt_tokens", m.prompt_tokens);
    visit("cached_tokens", m.cached_tokens);
    visit("generated_tokens", m.generated_tokens);
    visit("queue_ms", m.queue_ms);
    visit("prompt_ms", m.prompt_ms);
    visit("generation_ms", m.generation_ms);
}
template <typename V, Is<Done> M>
void each_field(V& visit, M& m) {
    visit("finish_reason", m.reason);
    visit("stop_string", m.stop_string);
    visit("timings", m.timings);
}
template <typename V, Is<Stats> M>
void each_field(V& visit, M& m) {
    visit("running", m.running);
    visit("waiting", m.waiting);
    visit("pages_free", m.pages_free);
    visit("pages_total", m.pages_total);
    visit("steps", m.steps);
    visit("prompt_tokens", m.prompt_tokens);
    visit("generated_tokens", m.generated_tokens);
}
template <typename V, Is<Piece> M>
void each_field(V& visit, M& m) {
    visit("text", m.text);
    visit.hex("bytes", m.bytes);
}
template <typename V, Is<Tokens> M>
void each_field(V& visit, M& m) {
    visit("text", m.text);
    visit("ids", m.ids);
    visit("pieces", m.pieces);
}

}  // namespace hearth::wire
