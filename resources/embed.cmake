# Writes OUT: a C++ source with `const std::string_view NAME` in namespace hearth::resources, the content of file IN.
# Bytes and not a string literal: compilers limit the length of those.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "#include <string_view>\n
namespace hearth::resources {
namespace {
constexpr char kBytes[] = {\n${bytes}\n};
}  // namespace
extern const std::string_view ${NAME};
const std::string_view ${NAME}(kBytes, sizeof kBytes);
}  // namespace hearth::resources\n")
