#!/usr/bin/env python3
"""Makes the tiny random Llama models of tests/data/models and the logits that `transformers` gives for them.

    python3 -m venv v && v/bin/pip install torch transformers gguf && v/bin/python tests/data/make_tiny_models.py

Everything is float32 on the CPU with fixed seeds. Per model NAME: NAME.gguf (weights, a byte-level BPE vocabulary of
320 tokens, a ChatML template) and, in goldens.json, `cases`: token ids, the first position whose logits are kept, and
the file that holds them as little-endian float32 [rows, 320].
"""
import json
import math
import pathlib

import gguf
import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

OUT = pathlib.Path(__file__).parent / "models"
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
VOCABULARY = 320
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
# What the merges are counted on.
SAMPLE = """
A hearth is the floor of a fireplace, and the place where people of a house sit together. The fire in the hearth keeps
the house warm, and the people there tell each other what the day was like. Write a short answer, then another one. The
user asks and the assistant answers; the system says how. Hello there, how are you? I am well, and the sun is out again.
"""


def byte_letters():
    """The printable letter that stands for each byte in byte-level BPE vocabularies (GPT-2's table)."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {b: chr(b) for b in kept}
    for n, b in enumerate(b for b in range(256) if b not in letters):
        letters[b] = chr(256 + n)
    return letters


def train_merges(count):
    """Byte pair encoding on SAMPLE: the most frequent pair first, ties to the smaller pair."""
    letters = byte_letters()
    words = [[letters[b] for b in (" " + w).encode()] for w in SAMPLE.split()]
    merges = []
    while len(merges) < count:
        pairs = {}
        for word in words:
            for pair in zip(word, word[1:]):
                pairs[pair] = pairs.get(pair, 0) + 1
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        for word in words:
            i = 0
            while i + 1 < len(word):
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = ["".join(best)]
                i += 1
    return merges


def make_model(seed, config):
    torch.manual_seed(seed)
    model = LlamaForCausalLM(LlamaConfig(**config)).float().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.copy_(torch.rand(parameter.shape, generator=generator) * 0.6 + 0.7)
            elif "embed" in name:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
            else:  # q and k larger, so that attention prefers some positions to others
                gain = 2.0 if "q_proj" in name or "k_proj" in name else 1.0
                scale = gain / math.sqrt(parameter.shape[1])
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
    return model


def interleave(weight, heads):
    """Rows of q or k in the order of llama GGUF files: the two halves of a rotated head become pairs."""
    rows, cols = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, cols).swapaxes(1, 2).reshape(rows, cols)


def llama3_factors(rope, head_dim):
    """Divisors of the frequencies for RoPE scaling of kind "llama3" (Llama 3.1's published rule)."""
    original = rope["original_max_position_embeddings"]
    factors = []
    for i in range(0, head_dim, 2):
        wavelength = 2 * math.pi * rope["rope_theta"] ** (i / head_dim)
        if wavelength < original / rope["high_freq_factor"]:
            factors.append(1.0)
        elif wavelength > original / rope["low_freq_factor"]:
            factors.append(rope["factor"])
        else:
            low, high = rope["low_freq_factor"], rope["high_freq_factor"]
            smooth = (original / wavelength - low) / (high - low)
            factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(factors, dtype=np.float32)


def write_tokenizer(writer):
    merges = train_merges(VOCABULARY - 256 - len(CONTROL))
    letters = byte_letters()
    tokens = CONTROL + [letters[b] for b in range(256)] + ["".join(m) for m in merges]
    assert len(tokens) == len(set(tokens)) == VOCABULARY
    kinds = [gguf.TokenType.CONTROL] * len(CONTROL)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds + [gguf.TokenType.NORMAL] * (VOCABULARY - len(CONTROL)))
    writer.add_token_merges([" ".join(m) for m in merges])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def write_rope(writer, config, head_dim):
    rope = config["rope_parameters"]
    writer.add_rope_dimension_count(head_dim)
    writer.add_rope_freq_base(rope["rope_theta"])
    kind = rope["rope_type"]
    if kind in ("linear", "yarn"):
        scaling = {"linear": gguf.RopeScalingType.LINEAR, "yarn": gguf.RopeScalingType.YARN}[kind]
        writer.add_rope_scaling_type(scaling)
        writer.add_rope_scaling_factor(rope["factor"])
    if kind == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if kind == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(rope, head_dim))


def write_gguf(name, model, config):
    writer = gguf.GGUFWriter(str(OUT / f"{name}.gguf"), "llama")
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config["hidden_size"] // heads
    writer.add_name(name)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(VOCABULARY)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    write_rope(writer, config, head_dim)
    write_tokenizer(writer)

    state = {k: v.detach().numpy() for k, v in model.state_dict().items()}
    tensors = {"token_embd": state["model.embed_tokens.weight"], "output_norm": state["model.norm.weight"]}
    if not config["tie_word_embeddings"]:
        tensors["output"] = state["lm_head.weight"]
    parts = {
        "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
        "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
        "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    }
    for layer in range(config["num_hidden_layers"]):
        for ours, theirs in parts.items():
            tensor = state[f"model.layers.{layer}.{theirs}.weight"]
            if ours in ("attn_q", "attn_k"):
                tensor = interleave(tensor, heads if ours == "attn_q" else kv_heads)
            tensors[f"blk.{layer}.{ours}"] = tensor
    for key, tensor in tensors.items():
        writer.add_tensor(f"{key}.weight", np.ascontiguousarray(tensor, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def golden(name, case, model, ids, first):
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0, first:].contiguous().numpy().astype("<f4")
    file = f"{name}.{case}.f32"
    (OUT / file).write_bytes(logits.tobytes())
    return {"model": name, "case": case, "ids": ids, "first": first, "file": file}


def main():
    OUT.mkdir(exist_ok=True)
    small = dict(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=80, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=True,
        attention_bias=False, mlp_bias=False,
    )
    main_model = small | dict(
        hidden_size=64, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=1024, tie_word_embeddings=False,
    )
    theta = {"rope_theta": 10000.0}
    models = {
        "tiny-llama": main_model | {"rope_parameters": theta | {"rope_type": "default"}},
        "tiny-llama3": small | {"rope_parameters": theta | {
            "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64}},
        "tiny-linear": small | {"rope_parameters": theta | {"rope_type": "linear", "factor": 4.0}},
        "tiny-yarn": small | {"rope_parameters": theta | {
            "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}},
    }
    cases = []
    for seed, (name, config) in enumerate(models.items(), start=1):
        model = make_model(seed, config)
        write_gguf(name, model, config)
        ids = np.random.default_rng(seed).integers(0, VOCABULARY, 80).tolist()
        cases.append(golden(name, "all", model, ids, 0))
        if name == "tiny-llama":  # past the first chunk of attention (256 positions)
            ids = np.random.default_rng(100).integers(0, VOCABULARY, 272).tolist()
            cases.append(golden(name, "long", model, ids, 250))
    (OUT / "goldens.json").write_text(json.dumps({"vocabulary": VOCABULARY, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
