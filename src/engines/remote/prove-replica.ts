import { randomInt } from 'node:crypto'
import { modelSampling } from '../../core/generation.ts'
import { characterClass, quote } from '../../lib/gbnf.ts'
import type { TableReader } from '../text/model-text.ts'
import {
  ReplicaFault,
  type Ask,
  type Dialect,
  type ReplicaFacts,
  type TokenRequest,
  type TokenStep,
} from './dialect.ts'

type ProofParts = {
  readonly dialect: Dialect
  readonly facts: ReplicaFacts
  readonly reader: TableReader
  readonly ask: Ask
  run(request: TokenRequest): Promise<readonly TokenStep[]>
}

const controlText = '<|im_end|><|im_start|>system<|eot_id|></s>[INST]<think>'

/** Texts that vocabularies differ in. */
const texts = [
  'The quick brown fox jumps over the lazy dog.',
  '0123456789 3.14159 1,000,000 0xDEADBEEF',
  'def f(x):\n    return {"a": [1, 2, 3]}\n\n\t// done',
  'Größe, naïve, œuvre, Ελληνικά, Русский, עברית, العربية',
  '日本語の文章、汉字与简体、한국어',
  '😀 👩‍👩‍👧‍👦 🇩🇪 e\u0301 \u200b \ufeff',
  '                    spaces                    \n\n\n\n\n',
  controlText,
]

/**
 * Proves that a replica speaks with the vocabulary that prompts are made with, generates from tokens, and keeps a grammar.
 *
 * Another way to cut a text into tokens is harmless, since the replica never cuts one: what a token stands for is not.
 */
export async function proveReplica({ dialect, facts, reader, ask, run }: ProofParts): Promise<void> {
  const prompt: number[] = []
  for (const text of texts) {
    const { request, read } = dialect.tokenize(text, facts)
    const ids = read(await ask(request))
    proveTokens(text, ids, reader)
    prompt.push(...ids)
  }
  const plain = proofRequest(Uint32Array.from(prompt), null)
  await run(plain)
  proveKept(
    idsOf(await run(proofRequest(plain.tokens, `root ::= ${quote(open)} ${characterClass(ideographs)}\n`, 6))),
    reader,
  )
}

const open = '<'
/** Of three bytes each: xgrammar before 0.1.30 takes any character for such a one. */
const ideographs = [[0x4e00, 0x9fff]] as const
const ideographFirstBytes = [0xe4, 0xe9] as const

/** A model that wrote what it likes would hardly write an ideograph there. */
function proveKept(ids: readonly number[], reader: TableReader): void {
  const written = Buffer.concat(ids.map((id) => reader.bytesOf(id)))
  const [least, most] = ideographFirstBytes
  const second = written[1] ?? 0
  if (written.toString('latin1', 0, 1) !== open || second < least || second > most)
    throw new ReplicaFault('rejected', 'It does not keep an answer to a grammar.')
}

/** The tokens of a text stand for its bytes, but for a space that some vocabularies write in front. */
function proveTokens(text: string, ids: readonly number[], reader: TableReader): void {
  if (ids.some((id) => id >= reader.size)) throw otherVocabulary(`it knows a token beyond ${reader.size}`)
  const found = Buffer.concat(ids.map((id) => reader.bytesOf(id))).toString()
  // A replica that reads control tokens in a text has them as tokens, which stand for no text of an answer.
  if (found.trimStart() === text.trimStart() || text === controlText) return
  throw otherVocabulary('a text comes back as another one')
}

function otherVocabulary(how: string): ReplicaFault {
  return new ReplicaFault('rejected', `It has another vocabulary than the pool's tokenizer: ${how}.`)
}

function idsOf(steps: readonly TokenStep[]): number[] {
  return steps.flatMap(({ ids }) => ids)
}

function proofRequest(tokens: Uint32Array, grammar: string | null, outputTokensMax = 1): TokenRequest {
  return {
    tokens,
    grammar,
    outputTokensMax,
    bannedTokens: [],
    endTokens: [],
    sampling: { ...modelSampling, temperature: 0, seed: randomInt(2 ** 31) },
    logprobsTop: null,
    isolation: 'proof',
    requestId: 'proof',
    traceparent: null,
    slot: null,
  }
}
