// Replicas that are killed, cut off and left, under load: what a pool of stand-ins answers, counts and leaves behind.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { collect } from '../../src/core/collect.ts'
import { countTokens, runAlone } from '../../src/core/engine.ts'
import { ApiError } from '../../src/core/error.ts'
import { GenerationAborted, inputTokens, type EngineRequest, type Tool } from '../../src/core/generation.ts'
import { replicaKinds, type ReplicaKind } from '../../src/engines/remote/dialect.ts'
import { openPool } from '../harness/engines/open-pool.ts'
import { openPlaceholderModel, type PlaceholderModel } from '../harness/engines/placeholder-model.ts'
import { openStandIn, type StandIn } from '../harness/engines/stand-in.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'
import { Failures, pause, runCases, type CampaignOptions, type CampaignResult } from './campaign.ts'
import { createRandom, type Random } from './random.ts'

const never = new AbortController().signal
const greedy = withSeed(1, 0)

/** Of `count`: as many counted prompts for each kind of engine and as many departures, a tenth as many kills, a twentieth of resumptions. */
export async function runPools({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const model = await openPlaceholderModel()
  const figures: Record<string, string | number> = {}
  for (const kind of replicaKinds) {
    const counted = await countPrompts({ kind, model, seed, count, failures })
    figures[`prompts counted (${kind})`] = counted
    log(`${kind}: ${counted} prompts counted`)
  }
  for (const kind of replicaKinds) {
    const { resumed, ended } = await resume({ kind, model, seed, count: Math.ceil(count / 20), failures })
    figures[`cut off and resumed (${kind})`] = `${resumed} the same, ${ended} ended with an error`
    log(`${kind}: ${resumed} answers resumed, ${ended} ended`)
  }
  figures['answers under kills'] = await kill({
    kind: 'llama-server',
    model,
    seed,
    count: Math.ceil(count / 10),
    failures,
  })
  log('kills done')
  figures['departures'] = await leave({ kind: 'llama-server', model, seed, count, failures })
  return failures.toResult(figures)
}

type Part = {
  readonly kind: ReplicaKind
  readonly model: PlaceholderModel
  readonly seed: number
  readonly count: number
  readonly failures: Failures
}

const words = [
  'small',
  'things',
  '<|im_end|>',
  '😀',
  '日本',
  '{"a":1}',
  '\n\n',
  '<tool_call>',
  'of',
  'life',
  '  ',
  'é',
  '\u0000',
]

function textOf(random: Random): string {
  return Array.from({ length: random.integer(1, 60) }, () => random.pick(words)).join(random.pick(['', ' ']))
}

const tool: Tool = {
  name: 'look_up',
  description: 'Looks <|im_start|> something up.',
  parameters: { type: 'object', properties: { word: { type: 'string', maxLength: 8 } }, required: ['word'] },
  isStrict: false,
  schemaPath: ['tools', 0],
  input: 'json',
}

function randomRequest(random: Random): EngineRequest {
  const text = (role: 'system' | 'user') => ({ role, content: [{ kind: 'text', text: textOf(random) }] }) as const
  return engineRequest({
    messages: [...(random.chance(0.5) ? [text('system')] : []), text('user')],
    tools: random.chance(0.4) ? [tool] : [],
    thinking: random.chance(0.5) ? { kind: 'on', tokensMax: random.pick([null, 4]) } : { kind: 'off' },
    sampling: withSeed(random.integer(0, 1_000)),
    outputTokensMax: random.integer(1, 8),
    owner: { organizationId: `org_${random.integer(0, 2)}`, apiKeyId: 'key' },
  })
}

/** What is counted beforehand is what is sent, what the replica counts, and what is billed. */
async function countPrompts({ kind, model, seed, count, failures }: Part): Promise<number> {
  const standIn = await openStandIn({ kind, model })
  const engine = await openPool([{ address: standIn.address, kind }])
  await runCases(count, 1, async (number) => {
    const request = randomRequest(createRandom(seed, number))
    try {
      const counted = await countTokens(engine, request, never)
      const { usage } = await collect(runAlone(engine, request, never))
      failures.check(`prompt ${number}`, () => equal(inputTokens(usage), counted))
    } catch (error) {
      failures.add(String(error), `prompt ${number}`)
    }
  })
  await engine.close()
  await standIn.close()
  return count
}

/** An answer whose replica is lost at any byte comes out as if nothing had been, or ends with an error; never else. */
async function resume({ kind, model, seed, count, failures }: Part): Promise<{ resumed: number; ended: number }> {
  let resumed = 0
  let ended = 0
  await runCases(count, 1, async (number) => {
    const random = createRandom(seed, number)
    const members = [await openStandIn({ kind, model }), await openStandIn({ kind, model })]
    const engine = await openPool(members.map(({ address }) => ({ address, kind })))
    const request = { ...randomRequest(random), sampling: greedy, outputTokensMax: 60 }
    const expected = await collect(runAlone(engine, request, never))
    for (const member of members.slice(0, 1)) member.fault = { kind: 'cut', bytes: random.integer(1, 6_000) }
    try {
      const answer = await collect(runAlone(engine, request, never))
      const same = failures.check(`resumption ${number}`, () =>
        deepEqual([idless(answer.blocks), answer.usage.output], [idless(expected.blocks), expected.usage.output]),
      )
      if (same) resumed += 1
    } catch (error) {
      ended += 1
      if (!(error instanceof ApiError)) failures.add(String(error), `resumption ${number}`)
    }
    await engine.close()
    await Promise.all(members.map((member) => member.close()))
  })
  if (ended > count * 0.05) failures.add(`${ended} of ${count} answers were not gone on with`, kind)
  return { resumed, ended }
}

function idless(blocks: readonly { readonly kind: string; readonly text: string }[]) {
  return blocks.map(({ kind, text }) => ({ kind, text }))
}

/** One of three is killed under load, again and again: nobody whose answer had not begun notices. */
async function kill({ kind, model, seed, count, failures }: Part): Promise<string> {
  const members = [
    await openStandIn({ kind, model }),
    await openStandIn({ kind, model }),
    await openStandIn({ kind, model }),
  ]
  const engine = await openPool(members, { retries: 3 })
  let isOver = false
  let answers = 0
  const load = Array.from({ length: 6 }, async (_, lane) => {
    for (let number = 0; !isOver; number++) {
      const request = { ...randomRequest(createRandom(seed + lane, number)), sampling: greedy }
      await collect(runAlone(engine, request, never)).catch((error: unknown) =>
        failures.add(String(error), `answer ${number}`),
      )
      answers += 1
    }
  })
  for (let number = 0; number < count; number++) {
    const at = number % members.length
    const victim = members[at] as StandIn
    const port = Number(new URL(victim.address).port)
    await pause(createRandom(seed, number).integer(5, 60))
    await victim.close()
    const { id } = engine.replicas[at]!
    await until(
      () => engine.replicas.find((one) => one.id === id)?.health.state !== 'up',
      'It was not ejected.',
      10_000,
    )
    members[at] = await openStandIn({ kind, model, port })
    await until(
      () => engine.replicas.find((one) => one.id === id)?.health.state === 'up',
      'It did not come back.',
      60_000,
    )
  }
  isOver = true
  await Promise.all(load)
  await engine.close()
  await Promise.all(members.map((member) => member.close()))
  ok(answers > count)
  return `${answers} over ${count} kills`
}

/** Whoever leaves at any moment leaves nothing running. */
async function leave({ kind, model, seed, count, failures }: Part): Promise<number> {
  const standIn = await openStandIn({ kind, model })
  const engine = await openPool([{ address: standIn.address, kind }])
  await runCases(count, 8, async (number) => {
    const random = createRandom(seed, number)
    const controller = new AbortController()
    setTimeout(() => controller.abort(), random.integer(0, 40))
    await collect(runAlone(engine, { ...randomRequest(random), outputTokensMax: 400 }, controller.signal)).catch(
      (error: unknown) => {
        if (!(error instanceof GenerationAborted)) failures.add(String(error), `departure ${number}`)
      },
    )
  })
  await until(() => standIn.running === 0 && engine.status().running === 0, 'Something still runs.', 5_000).catch(
    (error: unknown) => failures.add(String(error)),
  )
  for (const { load } of engine.replicas)
    failures.check('what is left', () => deepEqual([load.running, load.outstanding], [0, 0]))
  await engine.close()
  await standIn.close()
  return count
}
