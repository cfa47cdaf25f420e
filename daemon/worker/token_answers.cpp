// Answers about text and ids.
#include "daemon/worker/token_answers.h"

#include <string>
#include <utility>

#include "daemon/worker/convert.h"
#include "engine/base/utf8.h"
#include "engine/text/detokenizer.h"

namespace hearth::worker {
namespace {

// A million ids are about 7 MB of JSON, and far beyond any context; a piece takes ten times an id.
constexpr std::size_t kMaxIds = 1U << 20U;
constexpr std::size_t kMaxPieces = 1U << 17U;

wire::Piece piece_of(const text::Tokenizer& tokenizer, std::int32_t id) {
    const std::string_view bytes = tokenizer.bytes(id);
    return {repair_utf8(bytes.empty() ? tokenizer.piece(id) : bytes), std::string(bytes)};
}

}  // namespace

Result<wire::Tokens> answer(const Engine& engine, wire::Tokenize question) {
    HEARTH_TRY(PromptTokens tokens,
               engine.tokenize(to_prompt(std::move(question.prompt)), question.add_bos));
    const std::size_t most = question.with_pieces ? kMaxPieces : kMaxIds;
    if (tokens.ids.size() > most)
        return Error{ErrorCode::too_large, "the text has " + std::to_string(tokens.ids.size()) +
                                               " tokens, and a reply holds " +
                                               std::to_string(most) + "; send it in parts"};
    wire::Tokens reply;
    if (question.with_text) reply.text = std::move(tokens.text);
    reply.ids = std::move(tokens.ids);
    if (!question.with_pieces) return reply;
    for (const std::int32_t id : reply.ids)
        reply.pieces.push_back(piece_of(engine.tokenizer(), id));
    return reply;
}

Result<wire::Tokens> answer(const Engine& engine, const wire::Detokenize& question) {
    const text::Tokenizer& tokenizer = engine.tokenizer();
    text::Detokenizer detokenizer(tokenizer, {.at_text_start = true, .show_control = false});
    wire::Tokens reply;
    for (const std::int32_t id : question.ids) {
        if (id < 0 || id >= tokenizer.size())
            return Error{ErrorCode::bad_input, "token id " + std::to_string(id) +
                                                   " is not in the vocabulary of " +
                                                   std::to_string(tokenizer.size()) + " tokens"};
        reply.text += detokenizer.push(id);
    }
    reply.text += detokenizer.flush();
    return reply;
}

}  // namespace hearth::worker
