"""Carries weights over to another vocabulary: `python carry.py <weights.gguf> <tokenizer.json> <checkpoint.pt>`.

Where there is no such file, it is written: the weights keep the vocabulary that they have. What the blocks
have learned stays; a token that the old vocabulary did not have begins as the mean of
those that its text was made of. The training goes on from the checkpoint as from the start of a schedule.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGUFReader
from tokenizers import Tokenizer, decoders, models

from export import block_tensors
from model import Shape
from tokenizer import CONTROL, MARKS, WORDS, bare_tokens, cut


def strings(reader: GGUFReader, name: str) -> list[str]:
    field = reader.fields[name]
    return [bytes(field.parts[index]).decode("utf-8") for index in field.data]


def old_tokenizer(reader: GGUFReader) -> Tokenizer:
    tokens = strings(reader, "tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in strings(reader, "tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocab={token: index for index, token in enumerate(tokens)}, merges=merges))
    tokenizer.add_special_tokens(CONTROL + MARKS)
    tokenizer.pre_tokenizer = cut(WORDS)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def parts_of(old: Tokenizer) -> Callable[[str], list[int]]:
    """Into which tokens of the old vocabulary one of the new falls, by the pairs alone: it may be half a character."""

    def parts(token: str) -> list[int]:
        known = old.token_to_id(token)
        if known is not None:
            return [known]
        return [part.id for part in old.model.tokenize(token)]

    return parts


def main(weights_file: str, tokenizer_file: str, checkpoint: str) -> None:
    reader = GGUFReader(weights_file)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    weights = {
        ours: torch.from_numpy(gguf.quants.dequantize(tensors[theirs].data, tensors[theirs].tensor_type).copy()).float()
        for ours, theirs in block_tensors(Shape()).items()
    }
    held = old_tokenizer(reader)
    if not Path(tokenizer_file).exists():
        held.save(tokenizer_file)
    new = Tokenizer.from_file(tokenizer_file)
    parts = parts_of(held)
    tokens = sorted(new.get_vocab(), key=new.get_vocab().__getitem__)
    old = weights["embedding.weight"].numpy()
    table = torch.from_numpy(np.stack([old[parts(token)].mean(axis=0) for token in tokens]))
    bare = torch.tensor(bare_tokens(new))
    own = table - (bare >= 0)[:, None] * table[bare.clamp(min=0)]
    weights |= {"embedding.weight": own, "embedding.space": torch.zeros(table.shape[1]), "embedding.bare": bare}
    torch.save({"model": weights, "step": 0}, checkpoint)
    kept = sum(len(parts(token)) == 1 for token in tokens)
    print(f"{kept} of {len(tokens)} tokens are as they were")


if __name__ == "__main__":
    main(*sys.argv[1:])
