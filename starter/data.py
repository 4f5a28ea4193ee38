"""From training text to rows of tokens: `python data.py <text.jsonl> <tokenizer.json> <rows.npz>`."""

import json
import sys
from itertools import islice

import numpy as np
from tokenizers import Tokenizer

from model import Shape
from tokenizer import bare_tokens

ROW = 2560
# Conversations that half a window holds lie together in rows of their own: attention is half the work there.
HALF_WINDOW = Shape().window // 2
# What people and tools write teaches the language; what the model is to say counts most.
PROMPT_WEIGHT = 0.15
# A label or a count is all that such an example teaches: it counts more, a token for a token.
SHORT_TURN, SHORT_WEIGHT = 12, 2.5
# Some conversations see what stands before them in the row, as a long prompt sees its far past.
SEES_PAST = 0.3


class Rows:
    """Packs whole conversations into rows, the longest that still fits first."""

    def __init__(self) -> None:
        self.tokens: list[np.ndarray] = []
        self.weights: list[np.ndarray] = []
        self.segments: list[np.ndarray] = []
        self.waiting: list[tuple[np.ndarray, np.ndarray]] = []
        self.random = np.random.default_rng(1)

    def add(self, tokens: np.ndarray, weights: np.ndarray) -> None:
        if len(tokens) <= ROW:
            self.waiting.append((tokens, weights))
        if len(self.waiting) >= 256:
            self.fill_row()

    def fill_row(self) -> None:
        row, weights = np.zeros(ROW, np.uint16), np.zeros(ROW, np.uint8)
        segments = np.full(ROW, -1, np.int16)
        at = segment = 0
        first = int(self.random.integers(len(self.waiting)))
        chosen = self.waiting.pop(first)
        while chosen is not None:
            size = len(chosen[0])
            segment += int(self.random.random() >= SEES_PAST)
            row[at : at + size], weights[at : at + size] = chosen
            segments[at : at + size] = segment
            at += size
            chosen = self.take(ROW - at)
        self.tokens.append(row)
        self.weights.append(weights)
        self.segments.append(segments)

    def take(self, room: int) -> tuple[np.ndarray, np.ndarray] | None:
        fitting = [index for index, (tokens, _) in enumerate(self.waiting) if len(tokens) <= room]
        if not fitting:
            return None
        if room > ROW // 4:
            return self.waiting.pop(fitting[int(self.random.integers(len(fitting)))])
        return self.waiting.pop(max(fitting, key=lambda index: len(self.waiting[index][0])))


def weigh(ids: list[int], start: int, end: int, assistant: list[int]) -> np.ndarray:
    """Weights in steps of 1/100 for each token as a thing to predict; full for what an assistant's turn says."""
    weights = np.full(len(ids), round(100 * PROMPT_WEIGHT), np.uint8)
    at = 0
    while at < len(ids):
        if ids[at] == start and ids[at + 1 : at + 1 + len(assistant)] == assistant:
            at += 1 + len(assistant)
            stop = ids.index(end, at)
            weights[at : stop + 1] = 100 if stop - at >= SHORT_TURN else round(100 * SHORT_WEIGHT)
            at = stop
        at += 1
    weights[0] = 0
    return weights


def main(text_file: str, tokenizer_file: str, rows_file: str) -> None:
    tokenizer = Tokenizer.from_file(tokenizer_file)
    start, end = tokenizer.token_to_id("<|im_start|>"), tokenizer.token_to_id("<|im_end|>")
    assistant = tokenizer.encode("assistant\n").ids
    kinds = long, short = Rows(), Rows()
    with open(text_file, encoding="utf-8") as lines:
        while some := list(islice(lines, 1000)):
            for encoding in tokenizer.encode_batch_fast([json.loads(line) for line in some]):
                rows = short if len(encoding.ids) <= HALF_WINDOW else long
                rows.add(np.array(encoding.ids, np.uint16), weigh(encoding.ids, start, end, assistant))
    for rows in kinds:
        while len(rows.waiting) > 200:
            rows.fill_row()
    segments = np.concatenate([rows.segments for rows in kinds])
    np.savez(
        rows_file,
        tokens=np.concatenate([rows.tokens for rows in kinds]),
        weights=np.concatenate([rows.weights for rows in kinds]),
        segments=segments,
        windows=np.repeat([2 * HALF_WINDOW, HALF_WINDOW], [len(rows.tokens) for rows in kinds]),
        bare=np.array(bare_tokens(tokenizer), np.int64),
    )
    used = int((segments >= 0).sum())
    print(f"{len(long.tokens)} and {len(short.tokens)} rows, {used} tokens, {used / segments.size:.3f} of the room used")


if __name__ == "__main__":
    main(*sys.argv[1:])
