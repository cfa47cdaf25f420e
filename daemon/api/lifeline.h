// Callbacks that are dropped when their owner is gone.
#pragma once

#include <memory>
#include <utility>

namespace hearth::api {

class Lifeline {
public:
    // A callback that does nothing once this Lifeline is destroyed. One thread.
    template <typename F>
    auto guard(F function) const {
        return [alive = std::weak_ptr<char>(token_),
                function = std::move(function)](auto&&... arguments) mutable {
            if (!alive.expired()) function(std::forward<decltype(arguments)>(arguments)...);
        };
    }

private:
    // One owner; callbacks only watch it.
    std::shared_ptr<char> token_ = std::make_shared<char>('\0');
};

}  // namespace hearth::api
