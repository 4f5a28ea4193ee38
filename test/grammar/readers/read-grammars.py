"""Reads a grammar and texts with each line of its input, and says with each line of its output how it takes them.

The one argument names the reader: xgrammar, or llguidance as vLLM uses it for a grammar that is no Lark. Of a token of one byte each
both make up a text, so no vocabulary decides anything.
"""

import json
import sys


def xgrammar_reader():
    from xgrammar import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, VocabType

    end = 256
    vocabulary = [bytes([byte]) for byte in range(end)] + [b"</s>"]
    info = TokenizerInfo(vocabulary, vocab_type=VocabType.RAW, stop_token_ids=[end])
    compiler = GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def read(grammar):
        compiled = compiler.compile_grammar(Grammar.from_ebnf(grammar))

        def accepts(text):
            matcher = GrammarMatcher(compiled)
            return all(matcher.accept_token(byte) for byte in text) and matcher.accept_token(end)

        return accepts

    return read


def llguidance_reader():
    from llguidance import LLMatcher, LLTokenizer
    from llguidance.gbnf_to_lark import any_to_lark

    tokenizer = LLTokenizer("byte")

    def read(grammar):
        compiled = LLMatcher.grammar_from_lark(any_to_lark(grammar))
        fault = LLMatcher.validate_grammar(compiled, tokenizer)
        if fault:
            raise ValueError(fault)

        def accepts(text):
            matcher = LLMatcher(tokenizer, compiled)
            tokens = tokenizer.tokenize_bytes(text)
            return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()

        return accepts

    return read


read = {"xgrammar": xgrammar_reader, "llguidance": llguidance_reader}[sys.argv[1]]()
for line in sys.stdin:
    asked = json.loads(line)
    try:
        accepts = read(asked["grammar"])
        answer = {"accepted": [accepts(text.encode()) for text in asked["texts"]]}
    except Exception as error:
        answer = {"refused": str(error)}
    print(json.dumps(answer), flush=True)
