#include "tests/tidy/functions.h"

#include <array>
#include <cctype>
#include <string_view>

namespace hearth::tidy {
namespace {

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t i = text.find(word); i != std::string_view::npos; i = text.find(word, i + 1)) {
        const bool starts = i == 0 || !is_name_char(text[i - 1]);
        const std::size_t end = i + word.size();
        if (starts && (end == text.size() || !is_name_char(text[end]))) return true;
    }
    return false;
}

std::string name_before(std::string_view statement, std::size_t paren) {
    std::size_t end = paren;
    while (end > 0 && statement[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 && is_name_char(statement[begin - 1])) --begin;
    return std::string(statement.substr(begin, end - begin));
}

constexpr std::array<std::string_view, 7> kNotNames = {
    "noexcept", "decltype", "alignas", "requires", "__attribute__", "sizeof", "explicit"};

// The parenthesis that opens the parameter list, or npos.
std::size_t parameter_list(std::string_view statement) {
    for (std::size_t i = statement.find('('); i != std::string_view::npos;
         i = statement.find('(', i + 1)) {
        const std::string name = name_before(statement, i);
        bool skipped = name.empty();
        for (const std::string_view other : kNotNames) skipped = skipped || name == other;
        if (!skipped) return i;
    }
    return std::string_view::npos;
}

int count_parameters(std::string_view statement, std::size_t open) {
    int depth = 0;
    int commas = 0;
    bool any = false;
    for (std::size_t i = open; i < statement.size(); ++i) {
        const char c = statement[i];
        if (c == '(' || c == '<' || c == '{' || c == '[') ++depth;
        if (c == '>' && i > 0 && statement[i - 1] == '-') continue;
        if (c == ')' || c == '>' || c == '}' || c == ']') --depth;
        if (depth == 0) break;
        if (c == ',' && depth == 1) ++commas;
        if (i > open && c != ' ') any = true;
    }
    return any ? commas + 1 : 0;
}

class Scanner {
public:
    explicit Scanner(const SourceFile& file) : file_(file) {}

    std::vector<Function> run() {
        for (line_ = 0; line_ < file_.code.size(); ++line_) {
            const std::string& code = file_.code[line_];
            if (code.starts_with("#")) continue;
            for (const char c : code) take(c);
            if (!statement_.empty()) statement_ += ' ';
        }
        return std::move(functions_);
    }

private:
    enum class Kind { container, function, other };

    void take(char c) {
        if (c == '{') {
            open();
        } else if (c == '}') {
            close();
        } else if (c == ';' && parens_ == 0) {
            statement_.clear();
        } else if (c != ' ' || !statement_.empty()) {
            if (statement_.empty()) statement_line_ = line_;
            if (c == '(') ++parens_;
            if (c == ')') --parens_;
            statement_ += c;
        }
    }

    void open() {
        Kind kind = Kind::other;
        bool outside = true;
        for (const Kind k : stack_) outside = outside && k == Kind::container;
        if (outside && parens_ == 0) kind = classify();
        stack_.push_back(kind);
        if (kind != Kind::other) statement_.clear();
    }

    Kind classify() {
        const std::size_t list = parameter_list(statement_);
        for (const std::string_view word :
             {"namespace", "class", "struct", "union", "enum", "extern"})
            if (has_word(std::string_view(statement_).substr(0, list), word) &&
                (list == std::string::npos || statement_.starts_with(word)))
                return Kind::container;
        const std::size_t assign = statement_.find('=');
        if (list == std::string::npos || assign < list) return Kind::other;
        const std::string name = name_before(statement_, list);
        functions_.push_back({name, statement_line_, 0, count_parameters(statement_, list)});
        return Kind::function;
    }

    void close() {
        if (stack_.empty()) return;
        if (stack_.back() == Kind::function)
            functions_.back().lines = static_cast<int>(line_ - functions_.back().first_line) + 1;
        if (stack_.back() != Kind::other) statement_.clear();
        stack_.pop_back();
    }

    const SourceFile& file_;
    std::vector<Function> functions_;
    std::vector<Kind> stack_;
    std::string statement_;
    std::size_t statement_line_ = 0;
    std::size_t line_ = 0;
    int parens_ = 0;
};

}  // namespace

std::vector<Function> functions_of(const SourceFile& file) { return Scanner(file).run(); }

}  // namespace hearth::tidy
