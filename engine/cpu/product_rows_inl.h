// Walks a range of groups and panels with tiles: included once per instruction set, after
// product_inl.h and plain_product_inl.h.
namespace hearth::cpu {
namespace {

// Registers of rows in flight for T tokens: enough independent chains to hide latencies, and no
// more sums than there are registers. One token is bound by memory, where six groups are six
// streams that the hardware fetches ahead of (tests/bench/NOTES.md).
template <int T>
constexpr int registers_for() {
    return T == 1 ? 6 : T <= 3 ? 2 : 1;
}

template <typename F>
struct QuantTile {
    template <int T, int G>
    static void run(const ProductArgs& args, int index, int token) {
        tile<F, T, G>(args, index, token);
    }
};
template <typename F>
struct PlainTile {
    template <int T, int G>
    static void run(const ProductArgs& args, int index, int token) {
        plain_tile<F, T, G>(args, index, token);
    }
};

template <typename Tile, int T>
void panel_rows(const ProductArgs& args, int first, int last, int token) {
    constexpr int G = registers_for<T>();
    int i = first;
    for (; i + G <= last; i += G) Tile::template run<T, G>(args, i, token);
    if constexpr (G > 2)
        for (; i + 2 <= last; i += 2) Tile::template run<T, 2>(args, i, token);
    if constexpr (G > 1)
        for (; i < last; ++i) Tile::template run<T, 1>(args, i, token);
}

// Groups of about this many bytes are used by all panels before the next ones: half of a
// first-level cache.
constexpr std::size_t kSlabBytes = 16 * 1024;

template <typename Tile>
void product_rows(const ProductArgs& args) {
    constexpr int kParts = kGroupRows / simd::kLanes;
    const auto fitting = static_cast<int>(kSlabBytes / args.weight->group_bytes);
    const int slab = args.last_panel - args.first_panel == 1 ? args.last_group - args.first_group
                     : fitting < 1                           ? 1
                     : fitting > 4                           ? 4
                                                             : fitting;
    for (int g = args.first_group; g < args.last_group; g += slab) {
        const int first = g * kParts;
        const int last = (g + slab < args.last_group ? g + slab : args.last_group) * kParts;
        for (int p = args.first_panel; p < args.last_panel; ++p) {
            const int token = args.panels.first(p);
            switch (args.panels.size(p)) {
                case 1:
                    panel_rows<Tile, 1>(args, first, last, token);
                    break;
                case 2:
                    panel_rows<Tile, 2>(args, first, last, token);
                    break;
                case 3:
                    panel_rows<Tile, 3>(args, first, last, token);
                    break;
                case 4:
                    panel_rows<Tile, 4>(args, first, last, token);
                    break;
                case 5:
                    panel_rows<Tile, 5>(args, first, last, token);
                    break;
                case 6:
                    panel_rows<Tile, 6>(args, first, last, token);
                    break;
                case 7:
                    if constexpr (simd::kTileTokens >= 7)
                        panel_rows<Tile, 7>(args, first, last, token);
                    break;
                case 8:
                    if constexpr (simd::kTileTokens >= 8)
                        panel_rows<Tile, 8>(args, first, last, token);
                    break;
                default:
                    break;  // panels are cut to kTileTokens
            }
        }
    }
}

}  // namespace
}  // namespace hearth::cpu
