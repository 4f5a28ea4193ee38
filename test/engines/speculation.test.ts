import { runAlone, type EngineStatus } from '../../src/core/engine.ts'
import { deepEqual, equal, ok } from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { after, before, describe, test } from 'node:test'
import { checkStream } from '../../src/core/check-stream.ts'
import {
  GenerationAborted,
  type EngineRequest,
  type GenerationEvent,
  type JsonSchema,
  type TokenLogprob,
  type Tool,
} from '../../src/core/generation.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { owner, user } from '../harness/engines/ask-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

const weights = {
  // All of it can be cut back to any length.
  'the placeholder weights': placeholderPath,
  // Every layer looks back through a window.
  'the starter weights': fileURLToPath(new URL('../../weights/starter.gguf', import.meta.url)),
}

type Drafts = NonNullable<EngineStatus['drafts']>

const never = new AbortController().signal
const fox = 'the quick brown fox jumps over the lazy dog and the river is long and cold in winter time'

/** Answers that may not end early come to repeat themselves or their prompt. */
const long = { outputTokensMax: 160, outputTokensMin: 160 }
const greedy = withSeed(1, 0)

const thing: Tool = {
  name: 'note_things',
  description: 'Notes things.',
  parameters: {
    type: 'object',
    properties: {
      things: {
        type: 'array',
        items: { type: 'object', properties: { name: { enum: [fox] } }, required: ['name'] },
        minItems: 4,
        maxItems: 4,
      },
    },
    required: ['things'],
  },
  isStrict: true,
  schemaPath: [],
  input: 'json',
}

const json = (schema: JsonSchema) => ({ kind: 'json', schema, schemaPath: [], isStrict: true }) as const

const cases: Readonly<Record<string, Partial<EngineRequest>>> = {
  'the likeliest tokens': { messages: [user(`Repeat this: ${fox}. ${fox}.`)], ...long },
  'another question': { messages: [user('Translate "good morning" to French. Then say it again.')], ...long },
  'a seed and chance': { messages: [user('Tell me a story.')], ...long, sampling: withSeed(7, 0.6) },
  'much chance': { messages: [user('Tell me a story.')], ...long, sampling: withSeed(8, 1) },
  'one of few texts': {
    messages: [user(`Say this: ${fox}`)],
    output: json({ enum: [fox, `${fox} and spring`] }),
  },
  'a list in JSON': {
    messages: [user('List things of beauty.')],
    output: json({
      type: 'array',
      items: {
        type: 'object',
        properties: { kind: { const: 'a thing of beauty' }, number: { type: 'integer', minimum: 0, maximum: 9 } },
        required: ['kind', 'number'],
      },
      minItems: 8,
      maxItems: 8,
    }),
  },
  'a call that must be made': {
    messages: [user(`Note this four times: ${fox}`)],
    tools: [thing],
    toolChoice: { kind: 'required', parallel: false, allowed: null },
  },
  'a call that may be made': { messages: [user(`Note this: ${fox}`)], tools: [thing], ...long },
  'log-probabilities': { messages: [user('Count on.')], ...long, logprobsTop: 3 },
  penalties: {
    messages: [user('Count on.')],
    ...long,
    sampling: { ...withSeed(3, 0.3), frequencyPenalty: 0.1, presencePenalty: 0.1, repetitionPenalty: 1.02 },
  },
  biases: { messages: [user('Count on.')], ...long, sampling: { ...greedy, logitBias: [[300, 2]] } },
  thinking: { messages: [user('Count on.')], ...long, thinking: { kind: 'on', tokensMax: null } },
  'thinking up to a budget': { messages: [user('Count on.')], ...long, thinking: { kind: 'on', tokensMax: 61 } },
  'thinking before JSON': {
    messages: [user('Count on.')],
    thinking: { kind: 'on', tokensMax: 70 },
    output: json({ enum: [fox] }),
  },
}

for (const [name, weightsPath] of Object.entries(weights)) {
  describe(`with ${name}`, () => {
    let off: LlamaEngine
    let on: LlamaEngine
    let organizations = 0
    before(async () => {
      off = await openReady({ weightsPath, draftTokensMax: 0 })
      on = await openReady({ weightsPath, draftTokensMax: 15 })
    })
    after(() => Promise.all([off.close(), on.close()]))

    /** The events of both, which are the same. Each time in an organization of its own, for which nothing is held. */
    async function askBoth(changes: Partial<EngineRequest> = {}): Promise<GenerationEvent[]> {
      const asked = { ...owner(`org_${(organizations += 1)}`), ...changes }
      const events = await ask(on, asked)
      deepSame(events, await ask(off, asked))
      return events
    }

    for (const [what, asked] of Object.entries(cases)) {
      test(`an answer is the same, event by event: ${what}`, async () => {
        await askBoth(asked)
      })
    }

    test('a limit ends the answer at the same token, wherever in a draft it falls', async () => {
      const acceptedBefore = await settledDrafts(on)
      // As many limits as a draft has tokens, and the one before it.
      for (let outputTokensMax = 38; outputTokensMax < 54; outputTokensMax += 1) {
        const asked = { ...cases['a list in JSON'], outputTokensMax }
        const end = (await askBoth(asked)).at(-1)
        deepEqual(end?.type === 'finish' && [end.reason.kind, end.usage.output], ['length', outputTokensMax])
      }
      ok((await settledDrafts(on)).accepted > acceptedBefore.accepted)
    })

    test('a budget of thinking ends it at the same token, wherever in a draft it falls', async () => {
      for (let tokensMax = 60; tokensMax < 70; tokensMax += 1) {
        const asked = { ...cases['thinking'], thinking: { kind: 'on', tokensMax } } as const
        await askBoth(asked)
      }
    })

    test('a stop sequence ends the answer at the same place, wherever in a draft it falls', async () => {
      const asked = cases['the likeliest tokens']
      const text = textOf(await ask(off, asked))
      // The steps are no multiple of a word or a draft, so that the ends fall everywhere in both.
      for (let at = Math.floor(text.length / 2); at < text.length - 8; at += 23) {
        const end = (await askBoth({ ...asked, stopSequences: [text.slice(at, at + 8)] })).at(-1)
        equal(end?.type === 'finish' && end.reason.kind, 'stop-sequence')
      }
    })

    test('after drafts a slot holds what it would hold without, and the next turns go on from it', async () => {
      const messages = [user(`Repeat this: ${fox}. ${fox}.`)]
      for (let turn = 1; turn <= 4; turn += 1) {
        const asked = { messages, ...owner('org_turns'), ...long, outputTokensMax: 150 + turn, outputTokensMin: 150 }
        const events = await askBoth(asked)
        const [start] = events
        equal(start?.type === 'start' && start.cache?.source, turn === 1 ? 'none' : 'slot')
        messages.push({ role: 'assistant', content: [{ kind: 'text', text: textOf(events) }] }, user('Once more.'))
      }
    })

    test('two at a time get their own answers', async () => {
      // Computed together, tokens come out a little different, and where two are nearly as likely the other one is
      // taken: so what each answer says is not left to the model.
      const say = (text: string) => ({
        messages: [user(`Say this six times: ${text}`)],
        output: json({ type: 'array', items: { const: text }, minItems: 6, maxItems: 6 }),
      })
      const both = [say(fox), say('a small grey cat sat on the old stone wall')]
      const alone = []
      for (const asked of both) alone.push(textOf(await ask(off, asked)))
      const together = await Promise.all(both.map((asked) => ask(on, asked)))
      deepEqual(together.map(textOf), alone)
    })

    test('an answer that is given up leaves its slot fit for the next one', async () => {
      const asked = {
        ...cases['the likeliest tokens'],
        ...owner('org_left'),
        outputTokensMax: 900,
        outputTokensMin: 900,
      }
      const next = { ...cases['the likeliest tokens'], ...owner('org_left') }
      // Both then compute the prompt's last token by itself, whose last bits are others than among many tokens.
      await ask(off, next)
      for (const afterEvents of [40, 57, 61]) {
        const controller = new AbortController()
        const events = runAlone(on, engineRequest({ sampling: greedy, ...asked }), controller.signal)
        let seen = 0
        try {
          for await (const _ of events) if (++seen === afterEvents) controller.abort()
        } catch (error) {
          ok(error instanceof GenerationAborted)
        }
        equal(textOf(await ask(on, next)), textOf(await ask(off, next)))
      }
    })

    test('an answer that is longer than a window looks back is the same', async () => {
      const asked = { ...cases['the likeliest tokens'], outputTokensMax: 1_300, outputTokensMin: 1_300 }
      await askBoth(asked)
    })

    test('the engine counts what it computed ahead, and what of it was used', async () => {
      await ask(on, { ...cases['the likeliest tokens'], outputTokensMax: 400, outputTokensMin: 400 })
      const { drafted, accepted } = await settledDrafts(on)
      ok(accepted > 500 && accepted <= drafted, `${accepted} of ${drafted}`)
      deepEqual(await settledDrafts(off), { drafted: 0, accepted: 0 })
    })
  })
}

test('nothing is computed ahead where answers must be reproducible', async (t) => {
  const engine = await openReady({ draftTokensMax: 15, isReproducible: true })
  t.after(() => engine.close())
  await ask(engine, { ...cases['the likeliest tokens'], outputTokensMax: 300, outputTokensMin: 300 })
  deepEqual(await settledDrafts(engine), { drafted: 0, accepted: 0 })
})

async function openReady(settings: Parameters<typeof openLlama>[0]): Promise<LlamaEngine> {
  // In other portions a prompt comes out a little different, and a clock would decide on them.
  const engine = openLlama({ ...settings, stepsBySize: true })
  await until(() => engine.status().state === 'ready', 'The engine does not start.', 120_000)
  return engine
}

async function ask(engine: LlamaEngine, changes: Partial<EngineRequest> = {}): Promise<GenerationEvent[]> {
  const request = engineRequest({ sampling: greedy, ...changes })
  return Array.fromAsync(checkStream(runAlone(engine, request, never)))
}

function textOf(events: readonly GenerationEvent[]): string {
  return events.map((event) => (event.type === 'delta' ? event.text : '')).join('')
}

/** The counts once they no longer lag behind: the child tells them every second. */
async function settledDrafts(engine: LlamaEngine): Promise<Drafts> {
  let known: Drafts | undefined
  let sinceMs = performance.now()
  return until(() => {
    const now = engine.status().drafts
    if (now?.drafted !== known?.drafted) sinceMs = performance.now()
    known = now
    return performance.now() - sinceMs > 2_500 ? known : null
  }, 'The counts do not settle.')
}

/** Batches of other sizes may change the last bits of a log-probability and nothing else; a call's id is drawn. */
function deepSame(actual: readonly GenerationEvent[], expected: readonly GenerationEvent[]): void {
  deepEqual(actual.map(withoutChance), expected.map(withoutChance))
  const [ours, theirs] = [logprobsOf(actual), logprobsOf(expected)]
  ours.forEach(({ logprob }, index) => ok(Math.abs(logprob - (theirs[index]?.logprob ?? Infinity)) < 0.01))
}

function withoutChance(event: GenerationEvent): unknown {
  if (event.type === 'block-start' && event.block.kind === 'tool-call') return { ...event, block: event.block.name }
  if (event.type !== 'delta' || event.logprobs === undefined) return event
  return { ...event, logprobs: event.logprobs.map(({ bytes }) => bytes.toString()) }
}

function logprobsOf(events: readonly GenerationEvent[]): readonly TokenLogprob[] {
  return events.flatMap((event) => (event.type === 'delta' ? (event.logprobs ?? []) : []))
}
