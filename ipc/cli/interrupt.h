// Ctrl-C as something a loop can ask about and a poll can wait for, instead of the end of the
// program.
#pragma once

namespace hearth::cli {

// While one exists, SIGINT sets a flag and makes descriptor() readable; the earlier handling comes
// back with the destructor. One at a time.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    bool raised() const;
    void clear();            // forget a Ctrl-C that was dealt with
    int descriptor() const;  // for poll
};

}  // namespace hearth::cli
