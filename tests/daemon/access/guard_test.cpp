// Who may come in, as tables: what a browser can be made to send, and what a token is worth.
#include "daemon/access/guard.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

using namespace hearth::access;

namespace {

constexpr const char* kToken = "hearth-0123456789abcdef0123456789abcdef";

Keyring keyring_with(std::string_view token = kToken) {
    Keyring keyring;
    keyring.set(token);
    return keyring;
}

Door tcp_door() {
    return {.over_tcp = true, .hosts = {"127.0.0.1:7411", "localhost:7411"}, .origins = {}};
}

// What a good client sends over TCP.
Claims good_claims() {
    Claims claims;
    claims.method = "GET";
    claims.hosts = {"127.0.0.1:7411"};
    claims.authorizations = {std::string("Bearer ") + kToken};
    return claims;
}

int status_of(const Claims& claims, const Door& door = tcp_door(),
              Permission permission = Permission::token) {
    return judge(claims, door, permission, keyring_with()).status;
}

TEST(T069, OnlyTheExactHostsPass) {
    Door door = tcp_door();
    door.hosts.emplace_back("[::1]:7411");
    for (const char* host : {"127.0.0.1:7411", "localhost:7411", "[::1]:7411"}) {
        Claims claims = good_claims();
        claims.hosts = {host};
        EXPECT_EQ(status_of(claims, door), 0) << host;
    }
    const std::vector<std::string> bad[] = {
        {"evil.com"},
        {"evil.com:7411"},
        {"127.0.0.1.evil.com:7411"},
        {"localhost.evil.com:7411"},
        {"foo.local:7411"},
        {"x.internal:7411"},
        {"192.168.1.7:7411"},
        {"0.0.0.0:7411"},
        {"2130706433:7411"},
        {"0x7f000001:7411"},
        {"127.1:7411"},
        {"[::ffff:127.0.0.1]:7411"},
        {"127.0.0.1:7412"},
        {"127.0.0.1"},
        {"localhost"},
        {"localhost.:7411"},
        {"127.0.0.1:7411."},
        {" 127.0.0.1:7411"},
        {"user@127.0.0.1:7411"},
        {""},
        {},
        {"127.0.0.1:7411", "127.0.0.1:7411"},
        {"127.0.0.1:7411", "evil.com"},
    };
    for (const auto& hosts : bad) {
        for (const Permission permission : {Permission::open, Permission::token, Permission::owner})
            for (const char* method : {"GET", "POST", "OPTIONS", "HEAD", "DELETE", "XYZ"}) {
                Claims claims = good_claims();
                claims.hosts = hosts;
                claims.method = method;
                EXPECT_EQ(status_of(claims, door, permission), 403)
                    << method << " " << (hosts.empty() ? "no host" : hosts.front());
            }
    }
    for (const char* authority : {"evil.com", "evil.com:7411", "127.0.0.1", ""}) {
        Claims claims = good_claims();
        claims.authority = authority;
        EXPECT_EQ(status_of(claims, door), 403) << authority;
    }
    Claims claims = good_claims();
    claims.authority = "localhost:7411";
    EXPECT_EQ(status_of(claims, door), 0);
}

TEST(T069, AnAddressThatWeDoNotListenOnIsNotOurs) {
    Claims claims = good_claims();
    claims.hosts = {"[::1]:7411"};
    EXPECT_EQ(status_of(claims), 403);
}

TEST(T070, OriginsThatAreNotListedAreRefusedAtBothDoors) {
    const Door doors[] = {tcp_door(), {.over_tcp = false, .hosts = {}, .origins = {}}};
    for (const Door& door : doors)
        for (const char* origin :
             {"https://evil.com", "null", "", "http://localhost:3000", "http://127.0.0.1:7411",
              "chrome-extension://abcdef", "moz-extension://abc", "file://", "app://x"}) {
            Claims claims = good_claims();
            claims.origins = {origin};
            EXPECT_EQ(status_of(claims, door), 403) << origin;
            claims.method = "OPTIONS";
            claims.asks_for_method = true;
            EXPECT_EQ(status_of(claims, door), 403) << origin;
            EXPECT_EQ(judge(claims, door, Permission::token, keyring_with()).origin, "");
        }
}

TEST(T070, AListedOriginGetsItsOwnValueAndStillNeedsTheToken) {
    Door door = tcp_door();
    door.origins = {"http://localhost:3000", "app://here"};
    Claims claims = good_claims();
    claims.origins = {"http://localhost:3000"};
    claims.fetch_sites = {"cross-site"};
    Verdict verdict = judge(claims, door, Permission::token, keyring_with());
    EXPECT_EQ(verdict.status, 0);
    EXPECT_EQ(verdict.origin, "http://localhost:3000");
    claims.authorizations.clear();
    verdict = judge(claims, door, Permission::token, keyring_with());
    EXPECT_EQ(verdict.status, 401);
    EXPECT_EQ(verdict.origin, "http://localhost:3000");  // so that the page can read why
    claims.method = "OPTIONS";
    EXPECT_EQ(status_of(claims, door), 401);
    claims.asks_for_method = true;
    EXPECT_EQ(status_of(claims, door), 204);
    for (const std::vector<std::string>& origins :
         {std::vector<std::string>{"http://localhost:30000"},
          {"http://localhost:3000/"},
          {"HTTP://localhost:3000"},
          {"http://localhost:3000", "http://localhost:3000"}}) {
        claims.origins = origins;
        EXPECT_EQ(status_of(claims, door), 403) << origins.front();
    }
}

TEST(T071, WhatAnotherSiteCausesIsRefused) {
    const struct {
        std::vector<std::string> sites;
        int status;
    } cases[] = {
        {{}, 0},
        {{"none"}, 0},
        {{"same-origin"}, 0},
        {{"same-site"}, 403},
        {{"cross-site"}, 403},
        {{"none", "cross-site"}, 403},
        {{"whatever"}, 403},
        {{""}, 403},
    };
    for (const auto& c : cases) {
        Claims claims = good_claims();
        claims.fetch_sites = c.sites;
        EXPECT_EQ(status_of(claims), c.status) << (c.sites.empty() ? "" : c.sites.back());
    }
}

TEST(T072, OnlyTheTokenOpensAndItsSchemeMayBeWrittenInAnyCase) {
    const std::string token = kToken;
    const std::vector<std::string> good[] = {
        {"Bearer " + token}, {"bearer " + token}, {"BEARER   " + token}};
    for (const auto& values : good) {
        Claims claims = good_claims();
        claims.authorizations = values;
        EXPECT_EQ(status_of(claims), 0) << values.front();
    }
    const std::vector<std::string> bad[] = {
        {},
        {""},
        {"Bearer"},
        {"Bearer "},
        {token},
        {"Basic " + token},
        {"Bearer:" + token},
        {"Bearer " + token + "0"},
        {"Bearer " + token.substr(1)},
        {"Bearer " + token.substr(0, token.size() - 1)},
        {"Bearer " + token.substr(0, token.size() - 1) + "e"},
        {"Bearer Hearth" + token.substr(6)},
        {"Bearer " + token + " " + token},
        {"Bearer " + std::string(15'000, 'a')},
        {"Bearer " + token, "Bearer " + token},
    };
    for (const auto& values : bad) {
        Claims claims = good_claims();
        claims.authorizations = values;
        SCOPED_TRACE(values.empty() ? "none" : values.front().substr(0, 60));
        const Verdict verdict = judge(claims, tcp_door(), Permission::token, keyring_with());
        EXPECT_EQ(verdict.status, 401);
        EXPECT_EQ(verdict.code, "unauthorized");
        EXPECT_EQ(verdict.message.find(token), std::string::npos);
        EXPECT_EQ(status_of(claims, tcp_door(), Permission::owner), 401);
        EXPECT_EQ(status_of(claims, tcp_door(), Permission::open), 0);
        EXPECT_EQ(status_of(claims, {.over_tcp = false, .hosts = {}, .origins = {}}), 0);
    }
}

TEST(T072, ARevokedTokenOpensNothing) {
    Keyring keyring = keyring_with();
    EXPECT_TRUE(keyring.opens(kToken));
    keyring.set("another-token-altogether");
    EXPECT_FALSE(keyring.opens(kToken));
    EXPECT_FALSE(keyring.is(""));
    keyring.set("");
    EXPECT_TRUE(keyring.is(""));
    EXPECT_FALSE(keyring.opens(kToken));
    EXPECT_FALSE(keyring.opens(""));
    EXPECT_FALSE(Keyring().opens(""));
}

// Times are no test. That hashes are compared by the function that is made for it is one.
TEST(T072, HashesAreComparedInConstantTime) {
    std::ifstream file(HEARTH_SOURCE_DIR "/daemon/access/keyring.cpp");
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_NE(text.find("CRYPTO_memcmp(given.data(), hash_->data(), given.size()) == 0"),
              std::string::npos);
    EXPECT_EQ(text.find("token =="), std::string::npos);
}

TEST(Guard, OriginsOfSettingsAreASchemeAndAHost) {
    for (const char* good : {"http://localhost:3000", "https://a.example", "app://x",
                             "chrome-extension://abcdef", "http://[::1]:80"})
        EXPECT_TRUE(is_origin(good)) << good;
    for (const char* bad : {"", "*", "null", "localhost:3000", "http://", "://x", "http://a/",
                            "http://*.a", "http://a b", "http://a\r\nX: y", "HTTP://A"})
        EXPECT_FALSE(is_origin(bad)) << bad;
}

}  // namespace
