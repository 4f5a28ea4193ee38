// An upstream that computes nothing: chat completions at the mock's pace, for gateways that call one
// over HTTP. The argument is its port, 0 for any.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { promptTokensOf, wordsOf } from './answer-words.ts'
import { listen } from './listen.ts'
import { Pacer, type Due } from './pacer.ts'
import { readPace } from './read-pace.ts'

type Body = {
  readonly model: string
  readonly messages: readonly { readonly content: string }[]
  readonly max_tokens: number
  readonly stream?: boolean
}
type Answer = { readonly body: Body; readonly response: ServerResponse; text: string }

const pacer = new Pacer<Answer>(readPace(), (due) => due.forEach(write))

listen(Number(process.argv[2] ?? 0), (request, response) => {
  answer(request, response).catch((error: unknown) => {
    response.writeHead(400).end(String(error))
  })
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Body
  const answering = { body, response, text: '' }
  response.once('close', () => pacer.leave(answering))
  if (body.stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
    response.write(frame(body, { role: 'assistant', content: '' }, null))
  }
  pacer.begin(answering, body.max_tokens)
}

/** One event for each token, as engines that stream send them. */
function write(due: Due<Answer>): void {
  const { body, response } = due.answer
  const words = wordsOf(due)
  if (body.stream === true) {
    for (const content of words) response.write(frame(body, { content }, null))
    if (due.isLast) response.end(`${frame(body, {}, 'length')}data: [DONE]\n\n`)
    return
  }
  due.answer.text += words.join('')
  if (due.isLast) response.writeHead(200, { 'content-type': 'application/json' }).end(wholeAnswer(due.answer))
}

function frame({ model }: Body, delta: object, finishReason: string | null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason }
  return `data: ${JSON.stringify({ ...head(model), object: 'chat.completion.chunk', choices: [choice] })}\n\n`
}

function wholeAnswer({ body, text }: Answer): string {
  const message = { role: 'assistant', content: text, refusal: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'length' }]
  const promptTokens = promptTokensOf(body.messages.reduce((sum, { content }) => sum + content.length, 0))
  const tokens = body.max_tokens
  const usage = { prompt_tokens: promptTokens, completion_tokens: tokens, total_tokens: promptTokens + tokens }
  return JSON.stringify({ ...head(body.model), object: 'chat.completion', choices, usage })
}

function head(model: string) {
  return { id: 'chatcmpl-mock', created: Math.floor(Date.now() / 1_000), model, system_fingerprint: 'fp_mock' }
}
