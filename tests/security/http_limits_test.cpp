// Clients that drip, flood, leave or do not read: they meet limits, and nobody else notices.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>

#include "tests/security/served.h"
#include "tests/system/running_daemon.h"

using namespace hearth;
using namespace hearth::testing;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

net::ListenerConfig with_limits(const net::SessionLimits& limits) {
    net::ListenerConfig config;
    config.limits = limits;
    return config;
}

net::SessionLimits short_limits(milliseconds time) {
    return {.head = time, .body = time, .idle = time, .write = time, .linger = time};
}

double ms_for_health(const Served& served) {
    const auto start = Clock::now();
    EXPECT_EQ(served.get("/health").status, 200);
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

TEST(T077, DrippingClientsAreCutOffWhileOthersAreServed) {
    Served served(with_limits(short_limits(milliseconds(400))));
    std::vector<RawSocket> drips;
    for (int i = 0; i < 200; ++i) {
        drips.push_back(i % 2 == 0 ? served.over_tcp() : served.over_unix());
        ASSERT_TRUE(drips.back().write("GET /health HTTP/1.1\r\n"));
    }
    // Whole lines drip: a limit that starts anew with each of them would never end.
    double worst = 0.0;
    EXPECT_TRUE(becomes_true([&] {
        for (const RawSocket& drip : drips) (void)drip.write_some("A: b\r\n");
        worst = std::max(worst, ms_for_health(served));
        return served.connections() == 0;
    }));
    EXPECT_LT(worst, 1000.0);
    EXPECT_EQ(drips.front().read().status, 408);
    EXPECT_EQ(drips.back().read().status, 408);
}

TEST(T077, BodiesThatDripAreCutOffToo) {
    Served served(with_limits(short_limits(milliseconds(300))));
    RawSocket drip = served.over_tcp();
    ASSERT_TRUE(drip.write(served.head("POST", "/echo") + "Content-Length: 100000\r\n\r\n"));
    EXPECT_TRUE(becomes_true([&] {
        (void)drip.write_some("x");
        return served.connections() == 0;
    }));
    EXPECT_EQ(drip.read().status, 408);
}

TEST(T077, AConnectionThatRestsTooLongIsClosedWithoutAWord) {
    Served served(with_limits(short_limits(milliseconds(100))));
    RawSocket silent = served.over_tcp();
    EXPECT_EQ(silent.read_to_end(), "");
    RawSocket resting = served.over_unix();
    ASSERT_TRUE(resting.write("GET /health HTTP/1.1\r\n\r\n"));
    EXPECT_EQ(resting.read().body, "ok");
    EXPECT_EQ(resting.read_to_end(), "");
}

TEST(T077, WhoComesWhenItIsFullIsToldToComeAgain) {
    net::ListenerConfig config;
    config.max_connections = 40;
    config.max_over_tcp = 30;
    config.max_turned_away = 10;
    Served served(config);
    std::vector<RawSocket> guests;
    for (int i = 0; i < 30; ++i) guests.push_back(served.over_tcp());
    ASSERT_TRUE(becomes_true([&] { return served.connections() == 30; }));
    RawSocket late = served.over_tcp();
    const RawReply refusal = late.read();
    EXPECT_EQ(refusal.status, 503);
    EXPECT_EQ(refusal.code(), "busy");
    EXPECT_FALSE(refusal.header("Retry-After").empty());
    EXPECT_EQ(late.read_to_end(), "");
    late.close();
    // Whoever fills TCP does not lock the owner out of the Unix socket.
    RawSocket owner = served.over_unix();
    ASSERT_TRUE(owner.write("GET /health HTTP/1.1\r\n\r\n"));
    EXPECT_EQ(owner.read().status, 200);
    // A thousand more: each is turned away or closed, and none stays.
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(served.over_tcp().is_open());
    ASSERT_TRUE(owner.write("GET /health HTTP/1.1\r\n\r\n"));
    EXPECT_EQ(owner.read().status, 200);
    guests.clear();
    EXPECT_TRUE(becomes_true([&] { return served.connections() == 1; }));
    EXPECT_EQ(served.get("/health").status, 200);
}

double cpu_seconds(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0.0;
    double system = 0.0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

TEST(T078, WithoutDescriptorsTheAcceptLoopRestsAndRecovers) {
    const RunningDaemon daemon({.worker = FAKE_WORKER, .arguments = {}});
    const rlimit few{.rlim_cur = 64, .rlim_max = 64};
    ASSERT_EQ(::prlimit(daemon.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
    std::vector<RawSocket> flood;
    for (int i = 0; i < 200; ++i) flood.push_back(RawSocket::to_path(daemon.socket()));
    // Two seconds of a full house; the clock of the process is the measure, not ours.
    const double before = cpu_seconds(daemon.pid());
    const auto end = Clock::now() + std::chrono::seconds(2);
    while (Clock::now() < end) {
        pollfd wait{flood.front().descriptor(), POLLIN, 0};
        ::poll(&wait, 1, 100);
    }
    EXPECT_LT(cpu_seconds(daemon.pid()) - before, 0.1);
    flood.clear();
    EXPECT_TRUE(becomes_true([&] { return daemon.client().answers(); }));
}

TEST(T081, AReaderThatStopsIsDroppedAndNeverFillsTheMemory) {
    Served served(with_limits({.write = milliseconds(300)}));
    RawSocket deaf = served.over_tcp();
    ASSERT_TRUE(deaf.write(served.head("GET", "/endless") + "\r\n"));
    RawSocket trickle = served.over_unix();
    ASSERT_TRUE(trickle.write(served.head("GET", "/endless") + "\r\n"));
    RawSocket reader = served.over_tcp();
    ASSERT_TRUE(reader.write(served.head("GET", "/endless") + "\r\n"));
    ASSERT_TRUE(becomes_true([&] { return served.routes().running == 3; }));
    std::array<char, 65536> buffer;
    std::size_t got = 0;
    auto longest_wait = Clock::duration::zero();
    EXPECT_TRUE(becomes_true([&] {
        (void)::recv(trickle.descriptor(), buffer.data(), 10, MSG_DONTWAIT);
        const auto start = Clock::now();
        for (int i = 0; i < 10; ++i)
            got += static_cast<std::size_t>(
                std::max<ssize_t>(::recv(reader.descriptor(), buffer.data(), buffer.size(), 0), 0));
        longest_wait = std::max(longest_wait, Clock::now() - start);
        return served.routes().running == 1;
    }));
    EXPECT_LT(longest_wait, std::chrono::seconds(1));
    EXPECT_GT(got, 1U << 20U);
    // The limit and one event more.
    EXPECT_LT(served.routes().most_queued, api::ReplyStream::kQueueLimit + 2000);
    // Who reads slowly but without a pause stays.
    EXPECT_EQ(served.routes().running, 1);
}

TEST(T082, ClientsThatAreGoneAtAnyStageKillNobody) {
    Served served;
    const std::string requests[] = {
        "",
        "GET /he",
        served.head("POST", "/echo") + "Content-Length: 100\r\n\r\nabc",
        served.head("GET", "/endless") + "\r\n",
        served.head("GET", "/silent") + "\r\n",
        served.head("GET", "/health") + "\r\n",
        "nonsense\r\n\r\n",
        served.head("POST", "/echo") + "Content-Length: 9999999\r\n\r\n",
    };
    for (int round = 0; round < 20; ++round)
        for (const std::string& bytes : requests)
            for (const bool by_reset : {false, true}) {
                RawSocket tcp = served.over_tcp();
                RawSocket local = served.over_unix();
                (void)tcp.write(bytes);
                (void)local.write(bytes);
                if (by_reset) tcp.reset();
            }
    EXPECT_TRUE(becomes_true([&] { return served.connections() == 0; }));
    EXPECT_EQ(served.routes().running, 0);
    EXPECT_EQ(served.get("/health").status, 200);
}

// T080 with a real model: http_leave_test.cpp.
TEST(Doors, WorkStopsWhenItsClientGoesInAnyWay) {
    Served served;
    for (const int way : {0, 1, 2})
        for (const char* target : {"/silent", "/endless"}) {
            RawSocket socket = served.over_tcp();
            ASSERT_TRUE(socket.write(served.head("GET", target) + "\r\n"));
            ASSERT_TRUE(becomes_true([&] { return served.routes().running == 1; }));
            if (way == 0) socket.close();
            if (way == 1) socket.reset();
            // Whoever cannot ask any more is taken to be gone.
            if (way == 2) ::shutdown(socket.descriptor(), SHUT_WR);
            EXPECT_TRUE(becomes_true([&] { return served.routes().running == 0; })) << target;
        }
    EXPECT_TRUE(becomes_true([&] { return served.connections() == 0; }));
}

TEST(Doors, ARevokedTokenEndsOpenConnectionsOverTcpOnly) {
    Served served;
    RawSocket tcp = served.over_tcp();
    RawSocket local = served.over_unix();
    for (RawSocket* socket : {&tcp, &local})
        ASSERT_TRUE(socket->write(served.head("GET", "/silent") + "\r\n"));
    ASSERT_TRUE(becomes_true([&] { return served.routes().running == 2; }));
    served.on_thread([&] {
        served.keyring().set("");
        served.listener().close_tcp_sessions();
    });
    EXPECT_TRUE(tcp.is_closed_by_peer());
    EXPECT_TRUE(becomes_true([&] { return served.routes().running == 1; }));
    EXPECT_EQ(served.get("/endless").status, 401);
}

}  // namespace
