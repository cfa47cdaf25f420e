#!/usr/bin/env python3
"""Writes tests/data/tokenizers/{mixed.gguf,goldens.json} with the Python package `tokenizers`.

    pip install tokenizers==0.23.3
    python3 tests/data/make_tokenizer_goldens.py

mixed.gguf: one byte-level BPE vocabulary, trained without a pre-tokenizer, so that merges cross
every kind of border and a word cut at the wrong place changes the ids. The test adds the missing
tokenizer.ggml.pre. goldens.json: per pre-tokenizer a list of cases: text, bytes of each word,
ids; and under "special" texts whose control and user-defined tokens are recognised.
"""

import json
import random
import struct
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, models, trainers
from tokenizers import pre_tokenizers as pre

HERE = Path(__file__).parent / "tokenizers"
CONTROL = ["<|begin|>", "<|im_start|>", "<|im_end|>"]
USER_DEFINED = ["<think>", "<think>er"]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}DIGITS|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def split(*expressions):
    parts = [pre.Split(Regex(e), "isolated") for e in expressions]
    return pre.Sequence(parts + [pre.ByteLevel(add_prefix_space=False, use_regex=False)])


# As the models' own tokenizer.json files have them; `default`, `falcon` as GGUF readers do.
FAMILIES = {
    "gpt-2": pre.ByteLevel(add_prefix_space=False),
    "smollm": pre.Sequence(
        [pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)]
    ),
    "llama-bpe": split(LLAMA3.replace("DIGITS", "{1,3}")),
    "qwen2": split(LLAMA3.replace("DIGITS", "")),
    "default": split(r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"),
    "falcon": split(r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"),
}
WHOLE_WORDS = {"llama-bpe"}

SENTENCES = [
    "The fire burned low, and it's time to add 12 logs; they'll last until 06:30.",
    "I've said it: WE'RE DONE, DON'T ASK, HE'LL SEE WHAT I'D DO, I'M SURE.",
    "Der Kamin wärmt das Zimmer, größer als 25 m², für 1.234,50 € im Jahr.",
    "Le feu brûle; où est l'hôtel ? À côté d'une forêt, n°7.",
    "火が燃えている。部屋は２０度です。カタカナとひらがな。",
    "炉火正旺，房间里有三百六十五本书。",
    "난로가 따뜻해요. 방은 20도입니다.",
    "Огонь горит, в комнате 21 градус.",
    "النار مشتعلة، الحرارة ٢٥ درجة.",
    "आग जल रही है, कमरे में १२ लोग हैं।",
    "ไฟกำลังลุกไหม้ ห้องอุ่น",
    "for (int i = 0; i < 100; ++i) {\n\tsum += values[i] * 0x1F;\n}\n\n\nreturn sum; // done",
    "def f(x):\n    return x ** 2  if x>0 else -x\n\n\nprint(f'{f(3):.2f}')\r\n",
    "SELECT * FROM t WHERE a_b >= 10 AND c != 'x''y'; -- 3,141,592.653",
    "emoji 🔥🏠 family 👨‍👩‍👧‍👦 flag 🇫🇮 thumbs 👍🏽 keycap 1️⃣ heart ❤️",
    "cafe\u0301 naïve A\u030a Zalgo\u0335\u0321 o\u0308",
    "a  b   c    d\t\te \u00a0f\u3000g\u2003h\u2028i\u0085j\u200bk",
    "1 12 123 1234 12345 123456 1234567 ½ Ⅷ ² ①②③ 1½ ٣٤٥٦",
    "$$$ +++ <=> ^^^ ~~~ ||| ``` ... !!! ??? ''' \"\"\" ___ --- ###",
    "https://example.org/a?b=1&c=%20d#e user.name+tag@mail.example",
    "it's It'S IT'S 'sa 'x 're'RE 'l 'll' ''s s' 'ſ don\u2019t",
    " \n \n\n  \t\n x\r\n\r\ny\r\rz \n",
    "\x00\x01\x1c\x1d\x1e\x1f\x7f\u00ad\ufeff\ue000\U000e0001\U0010ffff",
    "<|im_end|> <|im_start|>user </s> [INST] <|begin|>",
    "x'ſab'ſ x'Kab 'ſ",
    "",
    " ",
    "\n",
    "'",
    "9",
]

POOLS = [
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789",
    "     ",
    "\n\n\r\t",
    "'''''srtvemlldSRTVEMLLD",
    "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~",
    "éüßñøжщλωאבسعहिकไท",
    "火炉部屋です사람",
    "²³½¾ⅧⅨ٣٤५६２０①⑳",
    "\u00a0\u3000\u2003\u2028\u2029\u0085\u1680\u205f\x0b\x0c",
    "\u0301\u0308\u0335\u200d\ufe0f\u20e3\u0903",
    "🔥👍🏽🇫🇮👩",
    "\x00\x1c\x7f\u200b\u00ad\ufeff\ue000\U000e0100\u0378\U0003ffff",
    "€£¥§©®™°«»„“”’…–—、。！？「」",
]


def random_texts(count):
    draw = random.Random(7)
    for _ in range(count):
        pools = draw.sample(POOLS, draw.randint(2, 5))
        yield "".join(draw.choice(draw.choice(pools)) for _ in range(draw.randint(3, 28)))


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = trainers.BpeTrainer(
        vocab_size=1400,
        initial_alphabet=sorted(pre.ByteLevel.alphabet()),
        max_token_length=10,
        min_frequency=2,
        show_progress=False,
    )
    texts = SENTENCES * 2 + list(random_texts(400))
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    return tokens, [tuple(m) for m in model["merges"]]


def text_field(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def field(key, kind, payload):
    return text_field(key) + struct.pack("<I", kind) + payload


def strings(texts):
    return struct.pack("<IQ", 8, len(texts)) + b"".join(map(text_field, texts))


def write_gguf(path, tokens, merges):
    everything = tokens + CONTROL + USER_DEFINED
    types = [1] * len(tokens) + [3] * len(CONTROL) + [4] * len(USER_DEFINED)
    ids = {"bos": len(tokens), "eos": len(tokens) + 2}
    fields = [
        field("general.architecture", 8, text_field("llama")),
        field("tokenizer.ggml.model", 8, text_field("gpt2")),
        field("tokenizer.ggml.tokens", 9, strings(everything)),
        field(
            "tokenizer.ggml.token_type",
            9,
            struct.pack(f"<IQ{len(types)}i", 5, len(types), *types),
        ),
        field("tokenizer.ggml.merges", 9, strings([" ".join(m) for m in merges])),
    ]
    for name, token in ids.items():
        fields.append(field(f"tokenizer.ggml.{name}_token_id", 4, struct.pack("<I", token)))
    header = b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields))
    path.write_bytes(header + b"".join(fields))


def cases_of(name, tokens, merges):
    vocabulary = {token: i for i, token in enumerate(tokens)}
    model = models.BPE(vocab=vocabulary, merges=merges, ignore_merges=name in WHOLE_WORDS)
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = FAMILIES[name]
    cases = []
    for text in SENTENCES + [" ".join(SENTENCES[:24])] + list(random_texts(200)):
        # Words are in the alphabet of bytes: one character is one byte.
        words = [len(word) for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
        cases.append({"text": text, "words": words, "ids": tokenizer.encode(text).ids})
    return cases


def special_cases(tokens, merges):
    tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = FAMILIES["smollm"]
    tokenizer.add_special_tokens([AddedToken(t, normalized=False) for t in CONTROL])
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in USER_DEFINED])
    texts = [
        "<|im_start|>user\nHow many logs?<|im_end|>\n<|im_start|>assistant\n",
        "<think>12 logs</think>, <think>er, <think>e",
        "<|im_end|><|im_end|>x<|im_end|",
        "<<|im_end|>> <|im_<|im_start|>end|>",
    ]
    return [{"text": t, "ids": tokenizer.encode(t).ids} for t in texts]


def main():
    HERE.mkdir(exist_ok=True)
    tokens, merges = train()
    write_gguf(HERE / "mixed.gguf", tokens, merges)
    goldens = {name: cases_of(name, tokens, merges) for name in FAMILIES}
    goldens["special"] = special_cases(tokens, merges)
    lines = []
    for name, cases in goldens.items():
        rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
        lines.append(f"{json.dumps(name)}:[\n{rows}\n]")
    (HERE / "goldens.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
