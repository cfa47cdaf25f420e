// Objects that the evaluator makes: macros, loops, namespaces, bound methods, global functions.
// They may refer to each other in circles; the machine clears those that can when a render ends.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/chat/functions.h"
#include "engine/chat/methods.h"
#include "engine/chat/node.h"
#include "engine/chat/operators.h"

namespace hearth::chat {

struct Arguments;
struct Scope;

class OtherNode : public Node {
public:
    virtual std::string type() const = 0;  // for messages
    virtual std::string repr() const = 0;
    // False: no such attribute.
    virtual bool attribute(Machine& machine, std::string_view name, Value& out);
    virtual bool is_callable() const { return true; }
    virtual Value call(Machine& machine, const Arguments& arguments);
    virtual void clear() {}  // drops what may lead back here
};

class MacroObject : public OtherNode {
public:
    MacroObject(const MacroStatement& macro, Scope& closure, MemoryAccount& account)
        : macro_(macro), closure_(closure) {
        charge(&account, sizeof(MacroObject));
    }
    std::string type() const override { return "Macro"; }
    std::string repr() const override { return "<Macro '" + macro_.name + "'>"; }
    bool attribute(Machine& machine, std::string_view name, Value& out) override;
    Value call(Machine& machine, const Arguments& arguments) override;

private:
    const MacroStatement& macro_;
    Scope& closure_;  // kept by the machine until the render ends
};

class BoundMethod : public OtherNode {
public:
    BoundMethod(Value self, const Method& method, MemoryAccount& account)
        : self_(std::move(self)), method_(method) {
        charge(&account, sizeof(BoundMethod));
        set_depth(1 + ValueAccess::depth(self_));
    }
    std::string type() const override { return "builtin_function_or_method"; }
    std::string repr() const override;
    Value call(Machine& machine, const Arguments& arguments) override;

private:
    const Value self_;
    const Method& method_;
};

// A function with a receiver: a global function, or a method of an object below.
class BoundFunction : public OtherNode {
public:
    BoundFunction(Value self, NamedFunction function, MemoryAccount& account)
        : self_(std::move(self)), function_(function) {
        charge(&account, sizeof(BoundFunction));
        set_depth(1 + ValueAccess::depth(self_));
    }
    std::string type() const override { return "function"; }
    std::string repr() const override { return "<function " + std::string(function_.name) + ">"; }
    Value call(Machine& machine, const Arguments& arguments) override;

private:
    const Value self_;
    const NamedFunction function_;
};

class NamespaceObject : public OtherNode {
public:
    explicit NamespaceObject(MemoryAccount& account) : account_(account) {
        charge(&account, sizeof(NamespaceObject));
    }
    std::string type() const override { return "Namespace"; }
    std::string repr() const override { return "<Namespace>"; }
    bool attribute(Machine& machine, std::string_view name, Value& out) override;
    bool is_callable() const override { return false; }
    void set(const Value& name, Value value);
    void clear() override { members_.clear(); }

private:
    MemoryAccount& account_;
    std::vector<std::pair<Value, Value>> members_;
};

class LoopObject : public OtherNode {
public:
    struct Setup {
        const LoopStatement& statement;
        Scope& scope;  // around the loop
        int depth0;
    };
    LoopObject(const Setup& setup, Items items, MemoryAccount& account);

    std::string type() const override { return "LoopContext"; }
    std::string repr() const override;
    bool attribute(Machine& machine, std::string_view name, Value& out) override;
    bool is_callable() const override { return true; }
    Value call(Machine& machine, const Arguments& arguments) override;
    void clear() override;

    // Moves to the next item; false at the end.
    bool advance() { return ++next_ <= items_.size(); }
    const Value& current() const { return items_[next_ - 1]; }
    std::size_t size() const { return items_.size(); }
    std::size_t index0() const { return next_ - 1; }
    // Whether `value` differs from the last one asked about.
    bool changed(Machine& machine, const Value& value);

private:
    Value number(std::size_t value) const;

    const LoopStatement& statement_;
    Scope& scope_;
    const int depth0_;
    Items items_;
    std::size_t next_ = 0;
    bool was_asked_ = false;
    Value last_asked_;
};

// cycler(a, b, …) and joiner(separator).
class CyclerObject : public OtherNode {
public:
    CyclerObject(std::vector<Value> items, MemoryAccount& account);
    std::string type() const override { return "Cycler"; }
    std::string repr() const override { return "<Cycler>"; }
    bool attribute(Machine& machine, std::string_view name, Value& out) override;
    bool is_callable() const override { return false; }
    void clear() override { items_.clear(); }
    Value next();
    void reset() { at_ = 0; }

private:
    std::vector<Value> items_;
    std::size_t at_ = 0;
};

class JoinerObject : public OtherNode {
public:
    JoinerObject(Value separator, MemoryAccount& account);
    std::string type() const override { return "Joiner"; }
    std::string repr() const override { return "<Joiner>"; }
    Value call(Machine& machine, const Arguments& arguments) override;
    void clear() override { separator_ = Value(); }

private:
    Value separator_;
    bool used_ = false;
};

inline OtherNode& other(const Value& value) {
    return *static_cast<OtherNode*>(ValueAccess::node(value));
}

}  // namespace hearth::chat
