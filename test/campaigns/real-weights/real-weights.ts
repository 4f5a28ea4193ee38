// Open weights as anyone may load them, under all three names and in both formats, beside llama.cpp's own server on the same files.

import { equal, match, ok } from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspectFile } from '../../../src/engines/llama/gguf/inspect-weights.ts'
import { plainTemplate } from '../../../src/engines/text/text-tools.ts'
import { runCli } from '../../harness/run-cli.ts'
import { launchLlamaServer, type LlamaServer } from '../../harness/engines/llama-server.ts'
import { llamaServer, onLibraryKernels } from '../../harness/programs/llama-server.ts'
import { startService, until, type Service } from '../../harness/start-service.ts'
import { Failures, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { models } from '../plain-requests.ts'
import { createRandom } from '../random.ts'
import { errorLines } from '../service-log.ts'
import { ask } from './ask.ts'
import { checkEarlierTurns } from './earlier-turns.ts'
import { fetchRealFile, realFiles, type RealFile } from './real-files.ts'
import { questionOf, randomText } from './real-texts.ts'

const answerTokens = 32
/** Answers that must be the reference's, or leave it where its own choice was this close. */
const sameShareLeast = 0.95

/** How the service computes, and by how much its log-probabilities may differ from the reference's. */
type Lane = {
  readonly name: string
  readonly engine: object
  readonly logprobMost: number
  readonly promptsMax: number
}

/** Both sides compute token by token, with the same kernels: what differs then is a fault of ours. */
const tokenByToken: Lane = {
  name: 'token by token',
  engine: { reproducible: true, batchTokens: 1 },
  logprobMost: 1e-3,
  promptsMax: Infinity,
}

/**
 * As the service runs when nobody sets anything, which is no proof of sameness: it notices that something new is wrong.
 *
 * Sums come out a little different in batches of different sizes. By its own choice of batches llama-server's answers
 * differ from themselves by up to 0.08 on Gemma 3 270M; 0.17 were seen between the two.
 */
const asConfigured: Lane = { name: 'as configured', engine: {}, logprobMost: 0.3, promptsMax: 16 }

const textsPerPrompt = 5
const streamsAtOnce = 8

type Course = {
  readonly service: Service
  readonly reference: LlamaServer | null
  readonly failures: Failures
  readonly label: string
  readonly weights: string
  readonly seed: number
  readonly count: number
  readonly lane: Lane
}

type ChatAnswer = {
  readonly choices: readonly [
    {
      readonly message: { readonly content: string | null; readonly tool_calls?: readonly ToolCall[] }
      readonly logprobs?: { readonly content: readonly Token[] }
    },
  ]
  readonly usage: {
    readonly prompt_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number }
  }
}
type Token = {
  readonly token: string
  readonly logprob: number
  readonly top_logprobs: readonly { readonly token: string; readonly logprob: number }[]
}
type ToolCall = { readonly function: { readonly name: string; readonly arguments: string } }

/** Both files beside the reference, which is built where there is none. */
export async function runRealWeights(options: CampaignOptions): Promise<CampaignResult> {
  return runOn(realFiles, llamaServer.find() ?? (await llamaServer.fetch()), options)
}

/** The smaller file alone, and beside the reference only where it is there. */
export function runRealWeightsShort(options: CampaignOptions): Promise<CampaignResult> {
  return runOn(realFiles.slice(0, 1), llamaServer.find(), options)
}

async function runOn(
  files: readonly RealFile[],
  serverPath: string | null,
  { seed, count, log }: CampaignOptions,
): Promise<CampaignResult> {
  const failures = new Failures()
  const figures: Record<string, string | number> = {}
  if (serverPath === null) log('No llama-server is there: nothing is compared with it.')
  for (const file of files) {
    const path = await fetchRealFile(file)
    log(`${file.name}`)
    const reference =
      serverPath === null ? null : await launchLlamaServer(onLibraryKernels(serverPath), referenceSettings(path))
    try {
      for (const lane of reference === null ? [asConfigured] : [tokenByToken, asConfigured]) {
        const service = await startService({ config: configOf(path, lane) })
        await runCli(service, 'models', 'use', swapped, path)
        const course = {
          service,
          reference,
          failures,
          label: `${file.name} ${lane.name}`,
          weights: path,
          seed,
          count,
          lane,
        }
        const compared = await runLane(course)
        Object.assign(figures, compared)
        for (const [name, value] of Object.entries(compared)) log(`${name} ${value}`)
        await endService(course)
      }
    } finally {
      await reference?.stop()
    }
  }
  return failures.toResult(figures)
}

async function runLane(course: Course): Promise<Record<string, string | number>> {
  const answers = course.reference === null ? {} : await compareAnswers(course)
  if (course.lane === tokenByToken) return { ...answers, ...(await compareCounts(course)) }
  await checkPromises(course)
  await checkEarlierTurns({ ...course, model: models[0], logprobMost: course.lane.logprobMost })
  await swapWhileServing(course)
  await recover(course)
  return answers
}

async function endService({ service, failures, label }: Course): Promise<void> {
  const exitCode = await service.stop()
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`, label)
  for (const line of errorLines(service).filter((one) => !one.includes('engine child ended')))
    failures.add(`The service logged: ${line}`, label)
}

/** The model whose weights are chosen by command: those that a config names can only be swapped there. */
const swapped = models[2]

function configOf(weights: string, { engine }: Lane): Record<string, unknown> {
  const named = Object.fromEntries(
    models.map((model) => [model, { thinking: 'off', ...(model !== swapped && { weights }) }]),
  )
  return { models: named, engine: { windowTokensMax: 2_048, threads: 1, gpu: 'off', ...engine } }
}

/** Without checkpoints, for which llama-server parts the end of a prompt, and one token at a time. */
function referenceSettings(weights: string): string[] {
  const settings = ['--ctx-size', 2_048, '--parallel', 1, '--threads', 1, '--threads-batch', 1, '--n-gpu-layers', 0]
  const batches = ['--batch-size', 32, '--ubatch-size', 1, '--ctx-checkpoints', 0]
  return ['--model', weights, '--jinja', ...templateOf(weights), ...[...settings, ...batches].map(String)]
}

/** Weights without a template of their own get the service's plain one on both sides. */
function templateOf(weights: string): string[] {
  const hasTemplate = inspectFile(weights).metadata['tokenizer.chat_template'] !== undefined
  return hasTemplate ? [] : ['--chat-template', plainTemplate]
}

/** The likeliest tokens are the same ones, about as likely, from prompts of the same length. */
async function compareAnswers({ service, reference, failures, label, count: all, lane }: Course) {
  const count = Math.min(all, lane.promptsMax)
  let [same, tied] = [0, 0]
  const differences: number[] = []
  for (let prompt = 0; prompt < count; prompt++) {
    const body = {
      messages: [{ role: 'user', content: questionOf(prompt) }],
      temperature: 0,
      max_tokens: answerTokens,
      logprobs: true,
      top_logprobs: 5,
    }
    const model = models[prompt % models.length]
    const ours = await ask<ChatAnswer>(service.address, '/v1/chat/completions', { ...body, model }, service.key)
    const asked = { ...body, cache_prompt: false }
    const theirs = await ask<ChatAnswer>(reference?.address ?? '', '/v1/chat/completions', asked)
    failures.check(`${label}, prompt ${prompt}`, () => equal(ours.usage.prompt_tokens, theirs.usage.prompt_tokens))
    const compared = compareTokens(tokensOf(ours), tokensOf(theirs), lane)
    differences.push(...compared.differences)
    if (compared.isSame) same += 1
    else if (compared.isTie) tied += 1
    const text = ours.choices[0].message.content
    // As configured the second of two same prompts is read from the cache, and its last bits are others.
    if (lane === tokenByToken && prompt % 4 === 0)
      await compareFormats(service, failures, { label, model, prompt, text })
  }
  const mean = differences.reduce((sum, one) => sum + one, 0) / Math.max(1, differences.length)
  const most = Math.max(0, ...differences)
  const { logprobMost } = lane
  if ((same + tied) / count < sameShareLeast) {
    failures.add(`${same} of ${count} answers are the same, ${tied} left it within ${logprobMost}.`, label)
  }
  if (most > logprobMost) {
    failures.add(`Log-probabilities differ by up to ${most.toFixed(4)}, more than ${logprobMost}.`, label)
  }
  return {
    [`${label}: same texts`]: `${same} of ${count}, and ${tied} left within ${logprobMost}`,
    [`${label}: log-probabilities differ in the mean and at most by`]: `${mean.toFixed(4)} and ${most.toFixed(4)}`,
  }
}

function tokensOf({ choices: [{ logprobs }] }: ChatAnswer): readonly Token[] {
  return logprobs?.content ?? []
}

/** How far the log-probabilities are apart as long as the tokens are the same, and whether what parts them was all but a tie. */
function compareTokens(ours: readonly Token[], theirs: readonly Token[], { logprobMost }: Lane) {
  const length = Math.min(ours.length, theirs.length)
  let at = 0
  while (at < length && ours[at]?.token === theirs[at]?.token) at += 1
  const differences = ours
    .slice(0, at)
    .map(({ logprob }, index) => Math.abs(logprob - (theirs[index]?.logprob ?? logprob)))
  const parting = theirs[at]
  const chosen = parting?.top_logprobs.find(({ token }) => token === ours[at]?.token)
  const isTie = parting !== undefined && chosen !== undefined && parting.logprob - chosen.logprob < logprobMost
  return { differences, isSame: at === length, isTie }
}

type Compared = {
  readonly label: string
  readonly model: string | undefined
  readonly prompt: number
  readonly text: string | null
}

/** The same question in the other format has the same answer. */
async function compareFormats(service: Service, failures: Failures, { label, model, prompt, text }: Compared) {
  const messages = [{ role: 'user', content: questionOf(prompt) }]
  const body = { model, messages, temperature: 0, max_tokens: answerTokens }
  const answer = await ask<{ content: readonly { text?: string }[] }>(
    service.address,
    '/v1/messages',
    body,
    service.key,
  )
  const other = answer.content.map((block) => block.text ?? '').join('')
  failures.check(`${label}, prompt ${prompt}, the other format`, () => equal(other, text))
}

async function compareCounts({ service, reference, failures, label, seed, count }: Course) {
  const texts = count * textsPerPrompt
  for (let number = 0; number < texts; number++) {
    const content = randomText(createRandom(seed, number))
    const messages = [{ role: 'user', content }]
    const body = { model: models[number % models.length], messages }
    const counted = await ask<{ input_tokens: number }>(service.address, '/v1/messages/count_tokens', body, service.key)
    const { prompt } = await ask<{ prompt: string }>(reference?.address ?? '', '/apply-template', { messages })
    const tokenized = { content: prompt, add_special: true, parse_special: true }
    const { tokens } = await ask<{ tokens: readonly number[] }>(reference?.address ?? '', '/tokenize', tokenized)
    failures.check(`${label}, text ${number}: ${JSON.stringify(content.slice(0, 60))}`, () =>
      equal(counted.input_tokens, tokens.length),
    )
  }
  return { [`${label}: texts counted`]: texts }
}

/** JSON, tools, the cache and many streams, whatever the model has learned. */
async function checkPromises({ service, failures, label }: Course) {
  const chat = (body: object) =>
    ask<ChatAnswer>(service.address, '/v1/chat/completions', { model: models[0], ...body }, service.key)
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string', maxLength: 20 }, days: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['city', 'days'],
    additionalProperties: false,
  }
  const isWhole = (text: string) => {
    const { city, days } = JSON.parse(text) as { city: unknown; days: unknown }
    ok(typeof city === 'string' && Number.isInteger(days), text)
  }
  for (const model of models) {
    const question = {
      model,
      temperature: 0,
      max_tokens: 150,
      messages: [{ role: 'user', content: 'Three days in Rome, please.' }],
    }
    const json_schema = { name: 'trip', strict: true, schema: parameters }
    const json = await chat({ ...question, response_format: { type: 'json_schema', json_schema } })
    failures.check(`${label}, JSON`, () => isWhole(json.choices[0].message.content ?? ''))
    const tools = [{ type: 'function', function: { name: 'book', strict: true, parameters } }]
    const call = await chat({ ...question, tools, tool_choice: 'required' }).catch(toRefusal)
    // A template that cannot carry calls is said to be one, and nothing is made up.
    if (call instanceof Error) failures.check(`${label}, tool`, () => match(call.message, /'tools' is not supported/))
    else
      failures.check(`${label}, tool`, () => isWhole(call.choices[0].message.tool_calls?.[0]?.function.arguments ?? ''))
  }
  const long = { messages: [{ role: 'user', content: questionOf(0).repeat(20) }], max_tokens: 4 }
  await chat(long)
  const { usage } = await chat(long)
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0
  failures.check(`${label}, prompt cache`, () => equal(cached, usage.prompt_tokens - 1))
  const asked = Array.from({ length: streamsAtOnce }, (_, stream) =>
    chat({ messages: [{ role: 'user', content: questionOf(stream) }], max_tokens: answerTokens }),
  )
  const answers = await Promise.all(asked)
  failures.check(`${label}, streams`, () => haveTexts(answers))
}

/** Throws with the answers that have none. */
function haveTexts(answers: readonly ChatAnswer[]): void {
  const empty = answers.filter(({ choices: [{ message }] }) => message.content === null || message.content === '')
  equal(empty.length, 0, JSON.stringify(empty))
}

function toRefusal(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

/** Another file with the same weights takes over while answers run: none breaks off. */
async function swapWhileServing({ service, failures, label, weights }: Course): Promise<void> {
  const copy = join(service.home, 'the-same.gguf')
  copyFileSync(weights, copy)
  const body = {
    model: swapped,
    temperature: 0,
    messages: [{ role: 'user', content: questionOf(2) }],
    max_tokens: answerTokens,
  }
  const answer = () => ask<ChatAnswer>(service.address, '/v1/chat/completions', body, service.key)
  const before = await answer()
  const under = Promise.all(Array.from({ length: streamsAtOnce }, answer))
  await runCli(service, 'models', 'use', swapped, copy)
  const answers = [...(await under), await answer()]
  failures.check(`${label}, swap`, () => haveTexts(answers))
  failures.check(`${label}, prompts after a swap`, () => {
    equal(answers.at(-1)?.usage.prompt_tokens, before.usage.prompt_tokens)
  })
}

/** The engine is killed; soon it answers again. */
async function recover({ service, failures, label }: Course): Promise<void> {
  const before = await service.enginePid()
  process.kill(before, 'SIGKILL')
  const body = { model: models[0], messages: [{ role: 'user', content: questionOf(1) }], max_tokens: 4 }
  const answers = () =>
    ask<ChatAnswer>(service.address, '/v1/chat/completions', body, service.key).then(
      () => true,
      () => false,
    )
  await until(answers, 'The engine does not come back.', 120_000)
  const after = await service.enginePid()
  failures.check(`${label}, recovery`, () => ok(after !== before))
}
