"""Writes the weights for llama.cpp: `python export.py <checkpoint.pt> <tokenizer.json> <template.jinja> <weights.gguf>`."""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFWriter, TokenType

from model import Shape, SharedEmbedding
from tokenizer import CONTROL, MARKS

# No layer looks further back than its window, so that a conversation may be of any length.
CONTEXT_LENGTH = 1_048_576
# A pattern of no length: every layer looks through the window.
EVERY_LAYER_WINDOWED = 0


def block_tensors(shape: Shape) -> dict[str, str]:
    names = {
        "attention_norm": "attn_norm",
        "attention.query": "attn_q",
        "attention.key": "attn_k",
        "attention.value": "attn_v",
        "attention.output": "attn_output",
        "attention.query_norm": "attn_q_norm",
        "attention.key_norm": "attn_k_norm",
        "attention_after": "post_attention_norm",
        "feed_forward_norm": "ffn_norm",
        "gate": "ffn_gate",
        "up": "ffn_up",
        "down": "ffn_down",
        "feed_forward_after": "post_ffw_norm",
    }
    tensors = {"embedding.weight": "token_embd.weight", "norm.weight": "output_norm.weight"}
    for layer in range(shape.layers):
        for ours, theirs in names.items():
            tensors[f"blocks.{layer}.{ours}.weight"] = f"blk.{layer}.{theirs}.weight"
    return tensors


def add_shape(writer: GGUFWriter, shape: Shape) -> None:
    writer.add_context_length(CONTEXT_LENGTH)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.key_value_heads)
    writer.add_key_length(shape.head_width)
    writer.add_value_length(shape.head_width)
    writer.add_layer_norm_rms_eps(shape.norm_epsilon)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_sliding_window(shape.window)
    writer.add_uint32("gemma3.attention.sliding_window_pattern", EVERY_LAYER_WINDOWED)
    writer.add_vocab_size(shape.vocabulary)


def add_tokenizer(writer: GGUFWriter, tokenizer_file: str, template: str) -> None:
    held = json.loads(Path(tokenizer_file).read_text(encoding="utf-8"))["model"]
    tokens = sorted(held["vocab"], key=held["vocab"].__getitem__)
    types = {**dict.fromkeys(CONTROL, TokenType.CONTROL), **dict.fromkeys(MARKS, TokenType.USER_DEFINED)}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([types.get(token, TokenType.NORMAL) for token in tokens])
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in held["merges"]])
    writer.add_bos_token_id(held["vocab"]["<|endoftext|>"])
    writer.add_eos_token_id(held["vocab"]["<|im_end|>"])
    writer.add_pad_token_id(held["vocab"]["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(template)


def main(checkpoint: str, tokenizer_file: str, template_file: str, weights_file: str) -> None:
    shape = Shape()
    weights = torch.load(checkpoint, map_location="cpu")["model"]
    embedding = SharedEmbedding(shape, weights["embedding.bare"])
    embedding.load_state_dict({name: weights[f"embedding.{name}"] for name in ("weight", "space", "bare")})
    weights["embedding.weight"] = embedding.table().detach()
    writer = GGUFWriter(weights_file, "gemma3")
    writer.add_name("Odyssey starter")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    add_shape(writer, shape)
    add_tokenizer(writer, tokenizer_file, Path(template_file).read_text(encoding="utf-8"))
    for ours, theirs in block_tensors(shape).items():
        values = weights[ours].float().numpy().astype(np.float32)
        if values.ndim == 1:
            writer.add_tensor(theirs, values)
            continue
        quantized = gguf.quants.quantize(values, GGMLQuantizationType.Q8_0)
        writer.add_tensor(theirs, quantized, raw_dtype=GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
