"""Walks grammars at random, token by token, and tells how long a library takes to say which tokens may come next.

The one argument names the library: xgrammar, or llguidance. The first line of the input has the vocabulary, each following one a
grammar and how many tokens to walk; each line of the output has the milliseconds of the grammar's compilation and of each token.
"""

import json
import random
import sys
from time import perf_counter

import numpy

vocabulary = json.loads(sys.stdin.readline())
tokens = [bytes.fromhex(token) for token in vocabulary["tokens"]]
end = vocabulary["end"]
words = (len(tokens) + 31) // 32


def xgrammar_walker():
    from xgrammar import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, VocabType

    info = TokenizerInfo(tokens, vocab_type=VocabType.RAW, stop_token_ids=[end])
    compiler = GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def start(grammar):
        matcher = GrammarMatcher(compiler.compile_grammar(Grammar.from_ebnf(grammar)))
        return matcher.fill_next_token_bitmask, matcher.accept_token, matcher.is_terminated

    return start


def llguidance_walker():
    from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper
    from llguidance.gbnf_to_lark import any_to_lark
    from llguidance.numpy import fill_next_token_bitmask

    bytes_of_one = {token[0]: number for number, token in enumerate(tokens) if len(token) == 1}

    class Vocabulary:
        eos_token_id = end
        bos_token_id = None

        def __init__(self):
            self.tokens = tokens

        def __call__(self, text):
            return [bytes_of_one[byte] for byte in (text.encode() if isinstance(text, str) else text)]

    tokenizer = LLTokenizer(TokenizerWrapper(Vocabulary()))

    def start(grammar):
        matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(any_to_lark(grammar)))
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return lambda mask: fill_next_token_bitmask(matcher, mask), matcher.consume_token, matcher.is_stopped

    return start


def walk(start, grammar, count, seed):
    chosen = random.Random(seed)
    mask = numpy.full((1, words), -1, dtype=numpy.int32)
    began = perf_counter()
    fill, accept, is_over = start(grammar)
    compiled = perf_counter() - began
    taken = []
    while len(taken) < count and not is_over():
        mask.fill(-1)
        began = perf_counter()
        fill(mask)
        taken.append((perf_counter() - began) * 1000)
        allowed = numpy.nonzero(numpy.unpackbits(mask.view(numpy.uint8)[0], bitorder="little"))[0].tolist()
        texts = [token for token in allowed if token < len(tokens) and token != end and tokens[token]]
        if not texts:
            break
        # A model writes words more often than single characters.
        few = chosen.sample(texts, min(4, len(texts)))
        accept(max(few, key=lambda token: len(tokens[token])))
    return {"compiled": compiled * 1000, "taken": taken}


start = {"xgrammar": xgrammar_walker, "llguidance": llguidance_walker}[sys.argv[1]]()
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(walk(start, asked["grammar"], asked["count"], asked["seed"])), flush=True)
