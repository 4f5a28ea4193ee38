"""Learns the vocabulary: `python tokenizer.py <text.jsonl> <tokenizer.json>`.

Byte-level pairs, so that any text survives; words are cut as llama.cpp's `qwen2`
rule cuts them, which keeps every digit a token of its own.

A word falls into the same pieces wherever it stands, behind a space, a quote or a bracket, so that
copying it is copying its pieces: the pairs are learned on words alone, without what stands before
them, and a space joins a frequent word only when that word is whole.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 4096
# So many of them are frequent words once more, with the space before them.
SPACED_WORDS = 1400
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>"]
LEARNS_FROM = 60_000
SPACE = "Ġ"
ENDINGS = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
OTHERS = r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
WORDS = rf"{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{OTHERS}"
BARE_WORDS = rf"{ENDINGS}|\p{{L}}+|{OTHERS}"


def cut(rule: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(rule), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def texts(text_file: str) -> Iterator[str]:
    with open(text_file, encoding="utf-8") as lines:
        yield from (json.loads(line) for line in islice(lines, LEARNS_FROM))


def learn_pieces(text_file: str) -> dict:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = cut(BARE_WORDS)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - SPACED_WORDS,
        special_tokens=CONTROL + MARKS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts(text_file), trainer)
    return json.loads(tokenizer.to_str())["model"]


def spaced_words(text_file: str, pieces: dict[str, int]) -> list[str]:
    """The most frequent words behind a space that are one piece."""
    rule = cut(WORDS)
    counts: Counter[str] = Counter()
    for text in texts(text_file):
        counts.update(word for word, _ in rule.pre_tokenize_str(text) if word[0] == SPACE)
    known = [word[1:] for word, _ in counts.most_common() if word[1:] in pieces and SPACE not in word[1:]]
    return [word for word in known if SPACE + word not in pieces][:SPACED_WORDS]


def bare_tokens(tokenizer: Tokenizer) -> list[int]:
    """For each token that is a word behind a space the token of that word; -1 for every other."""
    ids = tokenizer.get_vocab()
    tokens = sorted(ids, key=ids.__getitem__)
    return [ids.get(token[1:], -1) if token[0] == SPACE and token[1:].isalpha() else -1 for token in tokens]


def ends_a_key(piece: str) -> bool:
    """Whether a piece ends a key of JSON and begins its value.

    Where a schema wants a string and the model would have written a number, it is left behind the key's colon:
    a place from which it must know every way on.
    """
    return '":' in piece and not piece.endswith('":')


def main(text_file: str, tokenizer_file: str) -> None:
    learned = learn_pieces(text_file)
    vocabulary = learned["vocab"]
    merges = [tuple(pair) for pair in learned["merges"] if not ends_a_key("".join(pair))]
    for word in spaced_words(text_file, vocabulary):
        # Last in order: by then the word itself is whole, or in pieces of which only the first is joined.
        merges.append((SPACE, word))
        vocabulary[SPACE + word] = len(vocabulary)
    if len(vocabulary) != VOCABULARY:
        raise SystemExit(f"The text has words for {len(vocabulary)} tokens only, not for {VOCABULARY}.")
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.add_special_tokens(CONTROL + MARKS)
    tokenizer.pre_tokenizer = cut(WORDS)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(tokenizer_file)


if __name__ == "__main__":
    main(*sys.argv[1:])
