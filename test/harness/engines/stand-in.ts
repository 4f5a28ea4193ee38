// A server that speaks as llama-server, vLLM or SGLang does, by tokens, with the placeholder weights behind it. What it sends
// has the keys and the order of the recordings in test/fixtures/engines, which a test checks.

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { ReplicaKind } from '../../../src/engines/remote/dialect.ts'
import type { ModelToken, PlaceholderModel } from './placeholder-model.ts'

/** What goes wrong with the next answers. */
export type StandInFault =
  /** Where it is for long answers alone, shorter ones go well. */
  | { readonly kind: 'status'; readonly status: number; readonly outputTokensLeast?: number }
  | { readonly kind: 'hang' }
  /** The connection is reset once so many bytes of an answer are sent. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** The connection is closed between the last token and the record that says so. */
  | { readonly kind: 'cut-before-end' }
  | { readonly kind: 'lie'; readonly what: 'prompt' | 'output' | 'cached' }
  | { readonly kind: 'double' }
  /** An answer ends well after so many tokens. */
  | { readonly kind: 'end-early'; readonly tokens: number }
  /** Every token of an answer is a byte that no text has. */
  | { readonly kind: 'garble' }
  /** It wants to speak another protocol. */
  | { readonly kind: 'upgrade' }
  | { readonly kind: 'html' }
  | { readonly kind: 'redirect'; readonly to: string }

export type StandIn = {
  readonly address: string
  readonly paths: string[]
  /** The bodies of all requests for an answer. */
  readonly asked: Record<string, unknown>[]
  /** The bodies of all requests to end another one. */
  readonly aborts: unknown[]
  readonly running: number
  fault: StandInFault | null
  /** Decides in place of `fault`, for each request for an answer. */
  chooseFault: (() => StandInFault | null) | null
  /** The status with which it says how it is. */
  healthStatus: number
  /** Between two tokens. */
  tokenMs: number
  /** Whether it knows by itself which tokens end an answer, beside those that a request names. */
  knowsEnds: boolean
  /** Whether it ends an answer for which it is asked to. */
  endsWhenAsked: boolean
  /** All tokens of answers that it has made. */
  readonly made: number
  /** For each token of a prompt that is not held. */
  promptTokenMs: number
  /** Before an answer under a grammar is begun. */
  grammarMs: number
  /** Told by a llama-server; another one for each run of its program. */
  run: string
  /** Put into every place where an engine says something of itself. */
  canary: string
  close(): Promise<void>
}

export type StandInOptions = {
  readonly kind: ReplicaKind
  readonly model: PlaceholderModel
  readonly slots?: number
  readonly windowTokens?: number
  readonly port?: number
}

type Asked = {
  readonly tokens: readonly number[]
  readonly grammar: string | null
  readonly max: number
  readonly temperature: number
  readonly seed: number
  readonly biases: readonly (readonly [number, number])[]
  readonly logprobsTop: number | null
  readonly salt: string
  /** Left out it may. */
  readonly mayReuse?: boolean
  readonly isStream: boolean
  /** Those named by the request. */
  readonly endTokens?: readonly number[]
  /** By which it is asked to end the answer. */
  readonly name?: string
}

/** How far an answer has come, and what was asked for. */
type Counted = { readonly asked: Asked; readonly prompt: number; readonly cached: number; readonly output: number }

/** How one kind of engine writes an answer. */
type Voice = {
  readonly path: string
  read(body: Record<string, unknown>): Asked
  begin(counted: Counted): string[]
  token(tokens: readonly ModelToken[], all: readonly ModelToken[], counted: Counted): string[]
  end(all: readonly ModelToken[], counted: Counted, reason: 'stop' | 'limit'): string[]
  /** What is sent where it was asked to end the answer; absent where that is nothing. */
  aborted?(counted: Counted): string[]
}

export async function openStandIn(options: StandInOptions): Promise<StandIn> {
  const { kind, model, slots = 4, windowTokens = model.windowTokens } = options
  const voice = voices[kind]({ model })
  const held: { salt: string; tokens: readonly number[] }[] = []
  const state = {
    paths: [] as string[],
    asked: [] as Record<string, unknown>[],
    aborts: [] as unknown[],
    fault: null as StandInFault | null,
    chooseFault: null as StandIn['chooseFault'],
  }
  const ended = new Set<string>()
  let running = 0
  let made = 0
  const standIn = {
    ...state,
    healthStatus: 200,
    tokenMs: 0,
    promptTokenMs: 0,
    grammarMs: 0,
    knowsEnds: true,
    endsWhenAsked: true,
    canary: 'canary',
    run: randomUUID(),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? ''
    standIn.paths.push(path)
    const body = await readBody(request)
    response.setHeader('server', standIn.canary)
    if (standIn.fault?.kind === 'hang') return
    if (path !== voice.path) return answerSmall(path, body, response)
    standIn.asked.push(body)
    const fault = standIn.chooseFault === null ? standIn.fault : standIn.chooseFault()
    if (fault?.kind === 'status' && voice.read(body).max >= (fault.outputTokensLeast ?? 0))
      return sendJson(response, { error: { message: standIn.canary } }, fault.status)
    if (fault?.kind === 'upgrade')
      return void response.socket?.write(
        `HTTP/1.1 101 ${standIn.canary}\r\nconnection: upgrade\r\nupgrade: ${standIn.canary}\r\n\r\n`,
      )
    if (fault?.kind === 'html') return void response.setHeader('content-type', 'text/html').end(`<p>${standIn.canary}`)
    if (fault?.kind === 'redirect') return void response.writeHead(302, { location: fault.to }).end()
    running += 1
    try {
      await generate(voice.read(body), response, fault)
    } finally {
      running -= 1
    }
  }

  async function generate(asked: Asked, response: ServerResponse, fault: StandInFault | null): Promise<void> {
    const cached = asked.mayReuse === false ? 0 : Math.min(asked.tokens.length - 1, sharedWith(held, asked))
    held.push({ salt: asked.salt, tokens: asked.tokens })
    const lie = fault?.kind === 'lie' ? fault.what : null
    const counted = (output: number): Counted => ({
      asked,
      prompt: asked.tokens.length + (lie === 'prompt' ? 1 : 0),
      cached: lie === 'cached' ? asked.tokens.length + 5 : cached,
      output: output + (lie === 'output' ? 3 : 0),
    })
    const send = createSender(response, fault, asked.isStream)
    if (asked.isStream) send(voice.begin(counted(0)))
    const { promptTokenMs, grammarMs } = standIn
    if (grammarMs > 0 && asked.grammar !== null) await setTimeout(grammarMs)
    if (promptTokenMs > 0) await setTimeout((asked.tokens.length - cached) * promptTokenMs)
    const all: ModelToken[] = []
    let isEnd = false
    const { max: outputTokensMax, endTokens = [] } = asked
    const wanted = { ...asked, outputTokensMax, ...(!standIn.knowsEnds && { endTokens }) }
    const isEnded = () => asked.name !== undefined && ended.has(asked.name)
    const isLeft = () => response.destroyed || isEnded()
    const noText = model.reader.tokenOf(Uint8Array.of(0xc0)) ?? 0
    for await (const next of model.generate(wanted, isLeft)) {
      const token = fault?.kind === 'garble' ? { ...next, id: noText } : next
      made += 1
      all.push(token)
      const isCutShort = fault?.kind === 'end-early' && all.length === fault.tokens
      isEnd = isCutShort || model.reader.endsGeneration(token.id)
      if (asked.isStream) {
        send(voice.token([token], all, counted(all.length)))
        if (fault?.kind === 'double') send(voice.token([token], all, counted(all.length)))
      }
      if (standIn.tokenMs > 0) await setTimeout(standIn.tokenMs)
      if (response.destroyed) return
      if (isCutShort) break
    }
    if (fault?.kind === 'cut-before-end') {
      // What was written last leaves in the next tick.
      await setImmediate()
      return void response.socket?.end()
    }
    const last =
      (isEnded() && !isEnd ? voice.aborted?.(counted(all.length)) : undefined) ??
      voice.end(all, counted(all.length), isEnd ? 'stop' : 'limit')
    if (asked.isStream) {
      send(last)
      response.end()
    } else sendJson(response, JSON.parse(last[0] ?? '{}'))
  }

  function answerSmall(path: string, body: Record<string, unknown>, response: ServerResponse): void {
    if (path === '/abort_request' || path === '/inference/v1/abort_requests') standIn.aborts.push(body)
    if (standIn.endsWhenAsked && Array.isArray(body['request_ids']))
      for (const id of body['request_ids']) ended.add(String(id))
    const text = body['content'] ?? body['prompt']
    const known: Record<string, unknown> = {
      '/health': { status: 'ok' },
      '/props': {
        total_slots: slots,
        default_generation_settings: { n_ctx: windowTokens },
        model_path: standIn.canary,
        build_info: 'b1-1',
        media_marker: standIn.run,
      },
      '/tokenize': { tokens: typeof text === 'string' ? model.tokenize(text) : [] },
      '/v1/models': { data: [{ id: standIn.canary, root: standIn.canary, max_model_len: windowTokens }] },
      '/abort_request': {},
      '/inference/v1/abort_requests': {},
      '/version': { version: '0.32.0' },
      '/v1/loads': { version: '0.5.23', loads: [{ max_total_num_tokens: 40_000, max_running_requests: slots }] },
    }
    if (known[path] === undefined) sendJson(response, { error: standIn.canary }, 404)
    else sendJson(response, known[path], path === '/health' ? standIn.healthStatus : 200)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.destroyed) console.error(error)
      response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  return Object.defineProperties(standIn as typeof standIn & StandIn, {
    address: { value: `http://127.0.0.1:${port}` },
    running: { get: () => running },
    made: { get: () => made },
    close: {
      value: () => {
        server.closeAllConnections()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      },
    },
  })
}

/** Sends records, and ends the connection where that is the fault. */
function createSender(response: ServerResponse, fault: StandInFault | null, isStream: boolean) {
  if (isStream) response.writeHead(200, { 'content-type': 'text/event-stream' })
  let left = fault?.kind === 'cut' ? fault.bytes : Infinity
  return (records: readonly string[]): void => {
    for (const record of records) {
      if (response.destroyed || left <= 0) return
      const bytes = Buffer.from(record.startsWith(':') ? `${record}\n\n` : `data: ${record}\n\n`)
      const isLast = bytes.length >= left
      response.write(bytes.subarray(0, left), () => (isLast ? response.socket?.end() : undefined))
      left -= bytes.length
      if (isLast) return
    }
  }
}

function sharedWith(held: readonly { salt: string; tokens: readonly number[] }[], asked: Asked): number {
  let most = 0
  for (const { salt, tokens } of held) {
    if (salt !== asked.salt) continue
    let shared = 0
    while (shared < tokens.length && tokens[shared] === asked.tokens[shared]) shared += 1
    most = Math.max(most, shared)
  }
  return most
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

type Parts = { readonly model: PlaceholderModel }

const numbers = (value: unknown) => value as number[]

const voices: Readonly<Record<ReplicaKind, (parts: Parts) => Voice>> = {
  'llama-server': ({ model }) => {
    const textOf = ({ id }: ModelToken) => Buffer.from(model.reader.bytesOf(id)).toString()
    const probabilities = (tokens: readonly ModelToken[]) =>
      tokens.map(({ id, logprob, top }) => ({
        id,
        token: 'canary',
        bytes: [],
        logprob,
        top_logprobs: top.map(([other, value]) => ({ id: other, token: 'canary', bytes: [], logprob: value })),
      }))
    return {
      path: '/completion',
      read(body) {
        const biases = body['logit_bias'] as [number, number | false][]
        return {
          tokens: numbers(body['prompt']),
          grammar: (body['grammar'] as string | undefined) ?? null,
          max: Number(body['n_predict']),
          temperature: Number(body['temperature']),
          seed: Number(body['seed']),
          biases: biases.map(([id, bias]) => [id, bias === false ? -Infinity : bias]),
          logprobsTop: Number(body['n_probs']) > 0 ? Number(body['n_probs']) : null,
          salt: JSON.stringify(body['id_slot'] ?? null),
          mayReuse: body['cache_prompt'] === true,
          isStream: body['stream'] === true,
        }
      },
      begin: ({ prompt, cached }) => {
        const common = { index: 0, content: '', tokens: [0], stop: false, id_slot: -1, tokens_predicted: 0 }
        const progress = { total: prompt, cache: cached, processed: prompt, time_ms: 1 }
        return [JSON.stringify({ ...common, tokens_evaluated: prompt, prompt_progress: progress })]
      },
      token: (tokens, _, { prompt, output }) =>
        tokens.map((token) =>
          JSON.stringify({
            index: 0,
            content: model.reader.endsGeneration(token.id) ? '' : textOf(token),
            tokens: [token.id],
            stop: false,
            id_slot: -1,
            tokens_predicted: output,
            tokens_evaluated: prompt,
          }),
        ),
      end: (all, { asked, prompt, cached, output }, reason) => [
        JSON.stringify({
          index: 0,
          content: '',
          tokens: asked.logprobsTop !== null ? all.map(({ id }) => id) : [],
          id_slot: 0,
          stop: true,
          model: 'canary',
          tokens_predicted: output,
          tokens_evaluated: prompt,
          generation_settings: { grammar: 'canary' },
          prompt: 'canary',
          stop_type: reason === 'stop' ? 'eos' : 'limit',
          ...(asked.logprobsTop !== null && { completion_probabilities: probabilities(all) }),
          timings: { cache_n: cached, prompt_n: prompt - cached, predicted_n: output, canary: 1 },
        }),
      ],
    }
  },
  vllm: () => {
    const record = (choices: unknown[], usage: unknown) =>
      JSON.stringify({ request_id: 'canary', usage, output_mode: 'tokens', choices })
    const choice = (tokens: readonly ModelToken[], reason: string | null, { asked }: Counted) => ({
      index: 0,
      finish_reason: reason,
      stop_reason: null,
      token_ids: tokens.map(({ id }) => id),
      logprobs:
        asked.logprobsTop !== null
          ? {
              content: tokens.map(({ id, logprob, top }) => ({
                token_id: id,
                logprob,
                rank: 1,
                top_logprobs: top.map(([other, value]) => ({ token_id: other, logprob: value, rank: 1 })),
              })),
            }
          : null,
    })
    const usageOf = ({ prompt, cached, output }: Counted) => {
      const details = { prompt_tokens_details: { cached_tokens: cached } }
      return { prompt_tokens: prompt, total_tokens: prompt + output, completion_tokens: output, ...details }
    }
    return {
      path: '/inference/v1/generate',
      read(body) {
        const params = body['sampling_params'] as Record<string, unknown>
        const output = params['structured_outputs'] as { grammar: string } | undefined
        return {
          tokens: numbers(body['token_ids']),
          grammar: output?.grammar ?? null,
          max: Number(params['max_tokens']),
          temperature: Number(params['temperature']),
          seed: Number(params['seed'] ?? 1),
          biases: biasesOf(params['logit_bias']),
          logprobsTop: params['logprobs'] === undefined ? null : Number(params['logprobs']),
          salt: String(body['cache_salt']),
          name: `generate-tokens-${String(body['request_id'])}`,
          isStream: body['stream'] === true,
          endTokens: numbers(params['stop_token_ids'] ?? []),
        }
      },
      begin: () => [': canary'],
      token: (tokens, _, counted) => [record([choice(tokens, null, counted)], null)],
      end(all, counted, reason) {
        const usage = usageOf(counted)
        const ended = reason === 'stop' ? 'stop' : 'length'
        if (!counted.asked.isStream) return [record([choice(all, ended, counted)], usage)]
        const last = choice([], ended, counted)
        return [record([last], null), record([], usage), '[DONE]']
      },
      aborted: (counted) => [record([choice([], 'abort', counted)], null), record([], usageOf(counted)), '[DONE]'],
    }
  },
  sglang: () => {
    const record = (all: readonly ModelToken[], { asked, prompt, cached, output }: Counted, reason: unknown) =>
      JSON.stringify({
        text: 'canary',
        output_ids: all.map(({ id }) => id),
        meta_info: {
          id: 'canary',
          finish_reason: reason,
          prompt_tokens: prompt,
          completion_tokens: output,
          cached_tokens: cached,
          ...(asked.logprobsTop !== null && {
            output_token_logprobs: all.map(({ id, logprob }) => [logprob, id, null]),
            output_top_logprobs: all.map(({ top }) => top.map(([other, value]) => [value, other, null])),
          }),
        },
      })
    return {
      path: '/generate',
      read(body) {
        const params = body['sampling_params'] as Record<string, unknown>
        return {
          tokens: numbers(body['input_ids']),
          grammar: (params['ebnf'] as string | undefined) ?? null,
          max: Number(params['max_new_tokens']),
          temperature: Number(params['temperature']),
          seed: Number(params['sampling_seed']),
          biases: biasesOf(params['logit_bias']),
          logprobsTop: body['return_logprob'] === true ? Number(body['top_logprobs_num']) : null,
          salt: String(body['extra_key']),
          isStream: true,
          endTokens: numbers(params['stop_token_ids'] ?? []),
        }
      },
      begin: () => [],
      token: (_, all, counted) => [record(all, counted, null)],
      end: (all, counted, reason) => [
        record(all, counted, reason === 'stop' ? { type: 'stop', matched: 2 } : { type: 'length', length: all.length }),
        '[DONE]',
      ],
    }
  },
}

function biasesOf(value: unknown): [number, number][] {
  return Object.entries((value ?? {}) as Record<string, number>).map(([id, bias]) => [Number(id), bias])
}
