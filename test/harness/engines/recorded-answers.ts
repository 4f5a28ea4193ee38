import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelSampling } from '../../../src/core/generation.ts'
import type { Dialect, ReplicaKind, TokenRequest, TokenStep } from '../../../src/engines/remote/dialect.ts'
import { llamaServer } from '../../../src/engines/remote/dialects/llama-server.ts'
import { EventSplitter } from '../../../src/engines/remote/record-splitters.ts'
import { sglang } from '../../../src/engines/remote/dialects/sglang.ts'
import { vllm } from '../../../src/engines/remote/dialects/vllm.ts'
import { TableReader } from '../../../src/engines/text/model-text.ts'

export const folders = { 'llama-server': 'llama-server-0.5.0', vllm: 'vllm-0.32.0', sglang: 'sglang-0.5.23' } as const
const dialects: Readonly<Record<ReplicaKind, Dialect>> = { 'llama-server': llamaServer, vllm, sglang }

export type Recording = {
  readonly kind: ReplicaKind
  readonly dialect: Dialect
  readonly path: string
  readonly sent: Record<string, unknown>
  readonly status: number
  /** The body of the answer, byte for byte. */
  readonly body: Buffer
}

/** What a real engine was sent and has answered. */
export function readRecording(kind: ReplicaKind, name: string): Recording {
  const file = join(import.meta.dirname, '../../fixtures/engines', folders[kind], `${name}.http`)
  const text = readFileSync(file, 'utf8')
  const [, path = '', sent = '', status = '', rest = ''] = /^\w+ (\S+)\n(.*)\n\n(\d+)\n([^]*)$/u.exec(text) ?? []
  const body = rest.slice(rest.indexOf('\n\n') + 2)
  return {
    kind,
    dialect: dialects[kind],
    path,
    sent: sent === '' || sent.includes('…') ? {} : (JSON.parse(sent) as Record<string, unknown>),
    status: Number(status),
    body: Buffer.from(body.trimEnd() === '' ? '' : `${body.trimEnd()}\n\n`),
  }
}

/** The tokens of the recorded prompt, and what else was asked. */
export function requestOf({ sent }: Recording, logprobsTop: number | null = null): TokenRequest {
  const tokens = (sent['prompt'] ?? sent['token_ids'] ?? sent['input_ids'] ?? []) as number[]
  return {
    tokens: Uint32Array.from(tokens),
    grammar: null,
    outputTokensMax: 40,
    bannedTokens: [],
    endTokens: [endToken],
    sampling: { ...modelSampling, seed: 7 },
    logprobsTop,
    isolation: 'org_1',
    requestId: 'req_1',
    traceparent: null,
    slot: null,
  }
}

/** Texts of the recorded tokens; those that are in none of them stand for nothing. */
const texts: Readonly<Record<number, string>> = {
  504: 'The',
  3575: ' capital',
  282: ' of',
  4649: ' France',
  314: ' is',
  7042: ' Paris',
  30: '.',
  107: '{',
  18: '"',
  83: 'c',
  269: 'it',
  105: 'y',
  42: ':',
  476: ' "',
  38634: 'Paris',
  109: '}',
}
const size = 49_152
export const endToken = 2

/** The vocabulary of the recordings as far as they show it. */
export function recordedReader(): TableReader {
  const ends = new Uint32Array(size)
  const pieces: Buffer[] = []
  let end = 0
  for (let token = 0; token < size; token++) {
    const bytes = Buffer.from(texts[token] ?? '')
    pieces.push(bytes)
    end += bytes.length
    ends[token] = end
  }
  return new TableReader({ bytes: Buffer.concat(pieces), ends, endTokens: [endToken], specials: [], tokenBytesMax: 16 })
}

/** Reads the bytes of an answer as they come from a connection, in pieces of a size. */
export function* readSteps(
  dialect: Dialect,
  request: TokenRequest,
  body: Buffer,
  { reader = recordedReader(), pieceBytes = body.length }: { reader?: TableReader; pieceBytes?: number } = {},
): Generator<TokenStep> {
  const splitter = new EventSplitter()
  const records = dialect.createReader(request, reader)
  for (let start = 0; start < body.length; start += pieceBytes) {
    for (const record of splitter.push(body.subarray(start, start + pieceBytes))) yield records.read(record)
  }
  splitter.end()
  records.end()
}
