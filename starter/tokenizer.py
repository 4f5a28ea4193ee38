"""Learns the vocabulary: `python tokenizer.py <text.jsonl> <tokenizer.json>`.

Byte-level pairs, so that any text survives; words are cut as llama.cpp's `qwen2`
rule cuts them, which keeps every digit a token of its own.
"""

import json
import sys
from itertools import islice

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 4096
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>"]
LEARNS_FROM = 60_000
WORDS = (
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def main(text_file: str, tokenizer_file: str) -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=CONTROL + MARKS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    with open(text_file, encoding="utf-8") as lines:
        tokenizer.train_from_iterator((json.loads(line) for line in islice(lines, LEARNS_FROM)), trainer)
    tokenizer.save(tokenizer_file)


if __name__ == "__main__":
    main(*sys.argv[1:])
