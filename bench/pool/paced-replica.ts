// A llama-server that computes nothing once it has proved itself: what it is asked for is answered at the mock's pace, by
// tokens for a pool and as chat completions for who asks it directly. What a pool asks before it trusts a replica is answered
// by the placeholder weights, as in the tests.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { openPlaceholderModel } from '../../test/harness/engines/placeholder-model.ts'
import { openStandIn } from '../../test/harness/engines/stand-in.ts'
import { wordsOf } from '../gateway/mock/answer-words.ts'
import { listen } from '../gateway/mock/listen.ts'
import { Pacer, type Due } from '../gateway/mock/pacer.ts'
import { readPace } from '../gateway/mock/read-pace.ts'

/** More than are ever under way here: what is measured is not the wait for a slot. */
const slots = 256
/** What a pool asks for to see a replica's grammar is shorter. */
const answerTokensMin = 8

type Completion = { readonly prompt: readonly number[]; readonly n_predict: number }
type Chat = { readonly messages: readonly { readonly content: string }[]; readonly max_tokens: number }

/** How an answer is told, to one who asked by tokens or for a chat completion. */
type Answer = {
  readonly response: ServerResponse
  readonly begin: string
  word(word: string, made: number): string
  end(made: number): string
  made: number
}

const model = await openPlaceholderModel()
const tokensOfWords = new Map(
  wordsOf({ tokens: 2, isFirst: true }).map((word) => [word, model.tokenize(word)] as const),
)
for (const [word, tokens] of tokensOfWords) if (tokens.length !== 1) throw new Error(`"${word}" is not one token.`)
const proof = await openStandIn({ kind: 'llama-server', model, slots })
const pacer = new Pacer<Answer>(readPace(), (due) => due.forEach(write))

listen(0, (request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error)
    response.destroy()
  })
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const path = request.url ?? '/'
  if (path === '/v1/chat/completions') {
    const chat = JSON.parse(body.toString()) as Chat
    return pace(chatAnswer(response), chat.max_tokens)
  }
  const completion = path === '/completion' ? (JSON.parse(body.toString()) as Completion) : null
  if (completion === null || completion.n_predict < answerTokensMin) return prove(request, body, response)
  return pace(tokenAnswer(response, completion.prompt.length), completion.n_predict)
}

async function prove({ method, url }: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  const asked = method === 'POST' ? { method, body } : {}
  const answered = await fetch(new URL(url ?? '/', proof.address), asked)
  const type = answered.headers.get('content-type') ?? 'application/json'
  response.writeHead(answered.status, { 'content-type': type }).end(Buffer.from(await answered.arrayBuffer()))
}

function pace(answering: Answer, tokens: number): void {
  const { response, begin } = answering
  response.once('close', () => pacer.leave(answering))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(begin)
  pacer.begin(answering, tokens)
}

function write(due: Due<Answer>): void {
  const { answer: answering } = due
  for (const word of wordsOf(due)) answering.response.write(answering.word(word, ++answering.made))
  if (due.isLast) answering.response.end(answering.end(answering.made))
}

function tokenAnswer(response: ServerResponse, prompt: number): Answer {
  const common = { index: 0, stop: false, id_slot: -1 }
  const progress = { total: prompt, cache: 0, processed: prompt, time_ms: 1 }
  return {
    response,
    made: 0,
    begin: frame({
      ...common,
      content: '',
      tokens: [0],
      tokens_predicted: 0,
      tokens_evaluated: prompt,
      prompt_progress: progress,
    }),
    word: (content, made) =>
      frame({
        ...common,
        content,
        tokens: tokensOfWords.get(content),
        tokens_predicted: made,
        tokens_evaluated: prompt,
      }),
    end: (made) =>
      frame({
        ...common,
        content: '',
        tokens: [],
        stop: true,
        tokens_predicted: made,
        tokens_evaluated: prompt,
        stop_type: 'limit',
        timings: { cache_n: 0, prompt_n: prompt, predicted_n: made },
      }),
  }
}

function chatAnswer(response: ServerResponse): Answer {
  const chunk = (delta: object, finishReason: string | null) => {
    const choice = { index: 0, delta, finish_reason: finishReason }
    return frame({ id: 'chatcmpl-mock', object: 'chat.completion.chunk', created: 0, model: 'mock', choices: [choice] })
  }
  return {
    response,
    made: 0,
    begin: chunk({ role: 'assistant', content: '' }, null),
    word: (content) => chunk({ content }, null),
    end: () => `${chunk({}, 'length')}data: [DONE]\n\n`,
  }
}

function frame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}
