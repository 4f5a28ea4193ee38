import { deepEqual, equal } from 'node:assert/strict'
import type { EngineRequest, ToolResultBlock } from '../../src/core/generation.ts'
import type { FakeStep } from '../../src/engines/fake/fake-engine.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

/** The arguments of `get_weather`, as a tool of every library declares it. */
export const weatherSchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

export const question = 'What is the weather in Köln and in Paris?'

/** What the tool of a test answers. */
export function weatherOf(city: string): string {
  return city === 'Köln' ? '18 °C, 🌧' : `"sunny" in ${city}`
}

/** What the model says in the end, put together from the results that reached it. */
export const told = `Köln: ${weatherOf('Köln')}; Paris: ${weatherOf('Paris')}`

/** What it says where JSON is asked for. */
export const toldAsJson = { report: told }

export type WeatherService = FakeService & {
  /** What reached the engine, oldest first. */
  readonly requests: EngineRequest[]
}

/**
 * A service whose model asks for the weather of both cities at once and then tells what it heard.
 *
 * Weights that are small enough for tests call tools only when forced to, and never stop doing it.
 */
export async function startWeatherService(): Promise<WeatherService> {
  const requests: EngineRequest[] = []
  const script = (request: EngineRequest) => {
    requests.push(request)
    return answerTo(request)
  }
  const service = await startFakeService({ script, features: new Set(['tools', 'json-output']) })
  return { ...service, requests }
}

function answerTo(request: EngineRequest): readonly FakeStep[] {
  const thinking: FakeStep[] =
    request.thinking.kind === 'on' ? [{ kind: 'block', block: { kind: 'thinking' }, texts: ['Let me ', 'see.'] }] : []
  return [...thinking, ...actOn(request)]
}

function actOn({ messages, tools, output }: EngineRequest): readonly FakeStep[] {
  const results = messages.flatMap(({ content }) => content.filter((block) => block.kind === 'tool-result'))
  if (results.length === 0)
    return [call('get_weather', { city: 'Köln' }), call('get_weather', { city: 'Paris' }), calls]
  const report = `Köln: ${textOf(results[0])}; Paris: ${textOf(results[1])}`
  // One library asks for JSON by a tool of this name.
  if (tools.some(({ name }) => name === 'json')) return [call('json', { report }), calls]
  return [say(output.kind === 'json' ? JSON.stringify({ report }) : report), { kind: 'end', reason: { kind: 'end' } }]
}

const calls: FakeStep = { kind: 'end', reason: { kind: 'tool-calls' } }

let callCount = 0

function call(name: string, input: unknown): FakeStep {
  callCount += 1
  const block = { kind: 'tool-call', id: `scripted${callCount}`, name } as const
  return { kind: 'block', block, texts: pieces(JSON.stringify(input)) }
}

function say(text: string): FakeStep {
  return { kind: 'block', block: { kind: 'text' }, texts: pieces(text) }
}

/** As a model gives it: a few characters at a time. */
function pieces(text: string): string[] {
  return text.match(/[^]{1,4}/gu) ?? []
}

function textOf(result: ToolResultBlock | undefined): string {
  return result?.content.map((block) => (block.kind === 'text' ? block.text : '')).join('') ?? ''
}

/** Whether the calls and their results came back as they were given, each result to its call. */
export function checkHistory(requests: readonly EngineRequest[]): void {
  equal(requests.length, 2)
  const turns = requests[1]?.messages ?? []
  const made = turns.flatMap(({ content }) => content.filter((block) => block.kind === 'tool-call'))
  const results = turns.flatMap(({ content }) => content.filter((block) => block.kind === 'tool-result'))
  deepEqual(
    made.map(({ name, arguments: text }) => [name, JSON.parse(text)]),
    [
      ['get_weather', { city: 'Köln' }],
      ['get_weather', { city: 'Paris' }],
    ],
  )
  deepEqual(
    results.map((result) => [result.toolCallId, textOf(result), result.isError]),
    [
      [made[0]?.id, weatherOf('Köln'), false],
      [made[1]?.id, weatherOf('Paris'), false],
    ],
  )
}
