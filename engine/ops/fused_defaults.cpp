// The meaning of every fused op, written with simple ones.
#include "engine/ops/ops.h"

namespace hearth {

void Ops::matmul_add(const Weight& w, View x, View out) {
    const View product = scratch(0, x.rows, w.rows);
    matmul(w, x, product);
    add(product, out);
}

void Ops::norm_matmul(View x, View norm, float eps, const Weight& w, View out) {
    const View normed = scratch(1, x.rows, x.cols);
    rms_norm(x, norm, eps, normed);
    matmul(w, normed, out);
}

void Ops::rope_store(const RopeTable& table, const AttentionConfig& config, KvMemory& kv, int layer,
                     View qkv) {
    const int q_cols = config.heads * config.head_dim;
    const int kv_cols = config.kv_heads * config.head_dim;
    const View k = qkv.columns(q_cols, kv_cols);
    rope(table, config.heads, config.head_dim, qkv.columns(0, q_cols));
    rope(table, config.kv_heads, config.head_dim, k);
    store_kv(kv, layer, k, qkv.columns(q_cols + kv_cols, kv_cols));
}

void Ops::gated(View x, View norm, float eps, const Weight& gate_up, View out) {
    const View products = scratch(2, x.rows, gate_up.rows);
    norm_matmul(x, norm, eps, gate_up, products);
    silu_mul(products, out);
}

}  // namespace hearth
