// Guards of the machine: a scope, captured output, the depth of calls. A part of machine.h for its
// .cpp files only.
#pragma once

#include <memory>
#include <utility>

#include "engine/chat/machine.h"

namespace hearth::chat {

class Machine::Inside {
public:
    explicit Inside(Machine& machine) : Inside(machine, *machine.scope_) {}
    // A new scope below `parent`; the current one returns at the end.
    Inside(Machine& machine, Scope& parent) : machine_(machine), before_(machine.scope_) {
        if (machine_.spare_scopes_.empty()) {
            scope_ = std::make_unique<Scope>();
        } else {
            scope_ = std::move(machine_.spare_scopes_.back());
            machine_.spare_scopes_.pop_back();
        }
        scope_->parent = &parent;
        machine_.scope_ = scope_.get();
    }
    ~Inside() {
        machine_.scope_ = before_;
        auto& home = scope_->is_captured ? machine_.kept_scopes_ : machine_.spare_scopes_;
        if (!scope_->is_captured) scope_->values.clear();
        home.push_back(std::move(scope_));
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

private:
    Machine& machine_;
    Scope* const before_;
    std::unique_ptr<Scope> scope_;
};

class Machine::Capture {
public:
    explicit Capture(Machine& machine)
        : machine_(machine), before_(machine.out_), out_(machine.budget_) {
        machine_.out_ = &out_;
    }
    ~Capture() { machine_.out_ = before_; }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    Value take() { return machine_.string(out_.take()); }

private:
    Machine& machine_;
    Builder* const before_;
    Builder out_;
};

class Machine::CallDepth {
public:
    explicit CallDepth(Machine& machine) : machine_(machine) {
        machine_.budget_.check_depth(machine_.calls_ + 1);
        machine_.budget_.check_stack();
        ++machine_.calls_;
    }
    ~CallDepth() { --machine_.calls_; }
    CallDepth(const CallDepth&) = delete;
    CallDepth& operator=(const CallDepth&) = delete;

private:
    Machine& machine_;
};

}  // namespace hearth::chat
