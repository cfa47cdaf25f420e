#!/usr/bin/env python3
"""Writes tests/data/quant/{unpack,pack}.bin with the Python package `gguf` as the oracle.

    pip install gguf==0.19.0 numpy
    python3 tests/data/make_quant_goldens.py

unpack.bin: for each type: u32 type id, u32 elements, u32 block bytes, blocks, expected f32.
pack.bin:   u32 elements, f32 input; then for each type: u32 type id, u32 bytes, expected blocks.
Everything is little-endian. Blocks are random bits, but scales and minima are finite f16: some zero,
some subnormal, some the largest, of both signs. The package cannot pack k-quants.
"""

import struct
from pathlib import Path

import gguf
import numpy as np

T = gguf.GGMLQuantizationType
HERE = Path(__file__).parent / "quant"

# Type, blocks, where its f16 fields lie in a block.
BLOCKS = [
    (T.F16, 256, [0]),
    (T.BF16, 256, []),
    (T.Q4_0, 24, [0]),
    (T.Q4_1, 24, [0, 2]),
    (T.Q5_0, 24, [0]),
    (T.Q5_1, 24, [0, 2]),
    (T.Q8_0, 24, [0]),
    (T.Q4_K, 8, [0, 2]),
    (T.Q5_K, 8, [0, 2]),
    (T.Q6_K, 8, [208]),
]
SPECIAL = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x7BFF, 0xFBFF]
PACKED = [T.F16, T.BF16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0]


def finite_halves(rng, count):
    halves = rng.normal(0, 0.05, count).astype(np.float16).view(np.uint16)
    special = rng.random(count) < 0.4
    return np.where(special, rng.choice(np.array(SPECIAL, np.uint16), count), halves)


def random_blocks(rng, kind, count, fields):
    size = gguf.GGML_QUANT_SIZES[kind][1]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for at in fields:
        blocks[:, at:at + 2] = finite_halves(rng, count).astype("<u2").view(np.uint8).reshape(-1, 2)
    if kind == T.BF16:  # finite: an exponent of all ones becomes one less
        halves = blocks.view(np.uint16)
        halves[(halves & 0x7F80) == 0x7F80] ^= 0x0080
    return blocks


def write_unpack(rng):
    out = b""
    for kind, count, fields in BLOCKS:
        blocks = random_blocks(rng, kind, count, fields)
        floats = gguf.quants.dequantize(blocks, kind).astype("<f4").ravel()
        assert np.isfinite(floats).all(), kind
        out += struct.pack("<III", kind, floats.size, blocks.size) + blocks.tobytes() + floats.tobytes()
    (HERE / "unpack.bin").write_bytes(out)


def pack_input(rng):
    blocks = rng.normal(0, 0.02, (32, 32)).astype(np.float32)
    blocks[1] = 0
    blocks[2] = 0.25
    blocks[3] = -0.25
    blocks[4] = np.abs(blocks[4])
    blocks[5] = -np.abs(blocks[5])
    blocks[6] *= np.float32(1e-6)      # scales become subnormal f16
    blocks[7] *= np.float32(1e-12)     # scales become zero
    blocks[8] *= np.float32(1e5)
    blocks[9] = np.arange(-16, 16)     # ties
    blocks[10] = np.arange(-16, 16) * np.float32(-0.5)
    blocks[11, :] = 0
    blocks[11, 7] = -3
    blocks[12] = np.where(np.arange(32) % 2, 1, -1)  # two extremes of equal size
    return blocks


def write_pack(rng):
    blocks = pack_input(rng)
    out = struct.pack("<I", blocks.size) + blocks.astype("<f4").tobytes()
    for kind in PACKED:
        packed = np.ascontiguousarray(gguf.quants.quantize(blocks, kind)).tobytes()
        out += struct.pack("<II", kind, len(packed)) + packed
    (HERE / "pack.bin").write_bytes(out)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    write_unpack(np.random.default_rng(1))
    write_pack(np.random.default_rng(2))
