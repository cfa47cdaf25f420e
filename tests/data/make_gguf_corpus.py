#!/usr/bin/env python3
"""Writes the seeds of the GGUF fuzzer, tests/fuzz/corpus/gguf: small sound files and nearly sound ones.

    python3 tests/data/make_gguf_corpus.py
"""

import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "fuzz" / "corpus" / "gguf"
U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
BLOCK = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
         12: (256, 144), 13: (256, 176), 14: (256, 210), 30: (1, 2)}


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def entry(key, kind, payload):
    return text(key) + struct.pack("<I", kind) + payload


def array(kind, count, payload):
    return struct.pack("<IQ", kind, count) + payload


def model(entries, tensors, alignment=32, version=3):
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries)) + b"".join(entries)
    data = b""
    for name, kind, dims in tensors:
        head += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        head += struct.pack("<IQ", kind, len(data))
        elements, size = BLOCK[kind]
        count = size
        for dim in dims:
            count *= dim
        data += bytes(i % 251 for i in range(count // elements))
        data += bytes(-len(data) % alignment)
    return head + (bytes(-len(head) % alignment) + data if tensors else b"")


SCALARS = [
    entry("u8", U8, b"\xff"), entry("i8", I8, b"\xff"), entry("u16", U16, b"\1\2"),
    entry("i16", I16, b"\1\2"), entry("u32", U32, b"\1\2\3\4"), entry("i32", I32, b"\1\2\3\4"),
    entry("f32", F32, struct.pack("<f", 0.5)), entry("bool", BOOL, b"\1"),
    entry("string", STRING, text("llama")), entry("u64", U64, bytes(8)), entry("i64", I64, bytes(8)),
    entry("f64", F64, struct.pack("<d", 1e-5)),
]
ARRAYS = [
    entry("tokens", ARRAY, array(STRING, 3, text("a") + text("") + text("<0x0A>"))),
    entry("scores", ARRAY, array(F32, 2, struct.pack("<ff", 1, -1))),
    entry("types", ARRAY, array(I32, 2, struct.pack("<ii", 1, 3))),
    entry("flags", ARRAY, array(BOOL, 2, b"\0\1")),
    entry("empty", ARRAY, array(U8, 0, b"")),
]
ALIGNED = [entry("general.alignment", U32, struct.pack("<I", 8))]

SEEDS = {
    "scalars": model(SCALARS, []),
    "arrays": model(ARRAYS, []),
    "plain": model([], [("norm.weight", 0, [4]), ("a", 1, [3, 2]), ("b", 30, [2, 2, 2])]),
    "blocks": model(ALIGNED, [("w4", 2, [32, 2]), ("w5", 6, [32]), ("w8", 8, [32, 1, 1, 2])], 8),
    "q4_k": model(ALIGNED, [("w", 12, [256])], 8, version=2),
    "q6_k": model(ALIGNED, [("w", 14, [256])], 8),
    "nested": model([entry("deep", ARRAY, array(ARRAY, 1, array(ARRAY, 1, array(U8, 1, b"\1"))))], []),
    "cut": model(SCALARS, [])[:60],
    "old": model([], [], version=1),
    "zip": b"PK\3\4archive/data.pkl",
}

if __name__ == "__main__":
    HERE.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (HERE / name).write_bytes(content)
