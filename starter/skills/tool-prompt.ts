import type { Split, ToolCall, ToolDeclaration } from '../example.ts'
import { drawFor, phrase } from '../phrase.ts'
import type { Random } from '../random.ts'
import { businessPracticeTools } from '../words/practice-business.ts'
import { filePracticeTools } from '../words/practice-files.ts'
import { systemPracticeTools } from '../words/practice-systems.ts'
import { verbPracticeTools } from '../words/practice-verbs.ts'
import { dailyTools } from '../words/tools-daily.ts'
import { madeToolPrefixes, madeTools } from '../words/tools-made.ts'
import { officeTools } from '../words/tools-office.ts'
import { systemTools } from '../words/tools-systems.ts'
import { capitalized } from './list-phrase.ts'
import { inventTool, inventToolName } from './tool-invented.ts'
import type { ToolPlan } from './tool-plan.ts'
import { drawRareValue, drawValue, openKinds, schemaOf } from './tool-values.ts'

const written: readonly ToolPlan[] = [...dailyTools, ...officeTools, ...systemTools]

export const forPractice: readonly ToolPlan[] = [
  ...businessPracticeTools,
  ...filePracticeTools,
  ...systemPracticeTools,
  ...verbPracticeTools,
]

export type Naming = 'snake' | 'camel' | 'kebab'

/** A tool as one prompt declares it: with the names that its parameters have there. */
type Declared = {
  readonly plan: ToolPlan
  readonly declaration: ToolDeclaration
  readonly names: ReadonlyMap<string, string>
}

export type ToolRequest = {
  readonly tools: readonly ToolDeclaration[]
  readonly request: string
  readonly call: ToolCall
}

const imperatives = [
  '{ask}[.||||!]',
  '[Please|Can you|Could you|Would you|Can you please|Could you please|I want you to|I need you to|Hey, can you|Go ahead and|Hi, please|OK, now|Now|Next,|Then|Kindly|Be so kind and] {ask}[.||?|]',
  '{ask}[, please| for me, please|, thanks]',
]

const questions = [
  '{ask}[?|?||]',
  '[Hey,|Hi,|Hello,|Tell me,|Quick question:|I wonder,|Please tell me,|So,|And] {ask}[?||]',
]

/** Some declared tools, and a request that one of them fits. */
export function toolRequest(random: Random, split: Split, count: number): ToolRequest {
  const [first] = toolRequests(random, split, count, 1)
  if (first === undefined) throw new Error('A request needs a tool.')
  return first
}

/** Several requests to the same tools; what was called before says nothing about the next. */
export function toolRequests(random: Random, split: Split, tools: number, requested: number): ToolRequest[] {
  const plans = drawPlans(random, split, tools)
  const naming = drawNaming(random)
  const declared = plans.map((plan) => declare(random, split, plan, naming))
  const shown = random.shuffle(declared).map((one) => one.declaration)
  return Array.from({ length: requested }, (_, index) => {
    const target = index === 0 ? declared[0] : random.pick(declared)
    if (target === undefined) throw new Error('A request needs a tool.')
    return { tools: shown, ...ask(random, split, target) }
  })
}

/** Tools that stand in a prompt without being needed. */
export function declaredTools(random: Random, split: Split, count: number): ToolDeclaration[] {
  const naming = drawNaming(random)
  return drawPlans(random, split, count).map((plan) => declare(random, split, plan, naming).declaration)
}

/** Different in purpose, but now and then of the same object, or the same verb, so that the whole name matters. */
function drawPlans(random: Random, split: Split, count: number): ToolPlan[] {
  const plans: ToolPlan[] = []
  const near = random.chance(0.35)
  // Names that no list holds can only be read from the declaration.
  const practises = split === 'train' && random.chance(0.6)
  for (let attempt = 0; plans.length < count && attempt < 200; attempt += 1) {
    const plan = drawFor(
      split,
      () =>
        practises && random.chance(0.8) ? practiceTool(random) : random.pick(random.chance(0.45) ? written : madeTools),
      (drawn) => drawn.key,
    )
    const first = plans[0]
    const related = first === undefined || shared(first.key, plan.key)
    if (near && attempt < 60 && !related) continue
    if (!plans.some((other) => isSame(other, plan))) plans.push(plan)
  }
  return plans
}

/** Mostly a tool whose name no list holds; else one from the lists that are for practice alone. */
function practiceTool(random: Random): ToolPlan {
  return random.chance(0.45) ? inventTool(random) : random.pick(forPractice)
}

/** A sense of one word, a verb, stands for that verb with anything. */
function isSame(one: ToolPlan, other: ToolPlan): boolean {
  const startsWith = ({ key }: ToolPlan, verb: string) => key.startsWith(`${verb}_`)
  return (
    one.key === other.key || one.sense === other.sense || startsWith(one, other.sense) || startsWith(other, one.sense)
  )
}

function shared(one: string, other: string): boolean {
  const words = one.split('_')
  return other.split('_').some((word) => words.includes(word))
}

function drawNaming(random: Random): Naming {
  return random.weighted<Naming>([
    ['snake', 55],
    ['camel', 30],
    ['kebab', 15],
  ])
}

function declare(random: Random, split: Split, plan: ToolPlan, naming: Naming): Declared {
  const prefix = madeTools.includes(plan) && random.chance(0.12) ? `${random.pick(madeToolPrefixes)}_` : ''
  const names = new Map(
    plan.parameters.map((one) => [
      one.names[0] ?? '',
      styled(random.pick(one.names), naming === 'kebab' ? 'snake' : naming),
    ]),
  )
  // Two parameters of one name would be one.
  if (new Set(names.values()).size < names.size) return declare(random, split, plan, naming)
  const key = split === 'train' && random.chance(0.35) ? inventToolName(random, plan.key) : prefix + plan.key
  const withDescriptions = random.chance(0.4)
  const properties = plan.parameters.map((one) => {
    const name = names.get(one.names[0] ?? '') ?? ''
    const description = withDescriptions ? { description: `The ${(one.names[0] ?? '').replaceAll('_', ' ')}.` } : {}
    return [name, { ...schemaOf(one.kind), ...description }] as const
  })
  const required = plan.parameters.filter((one) => !one.optional).map((one) => names.get(one.names[0] ?? '') ?? '')
  return {
    plan,
    names,
    declaration: {
      name: styled(key, naming),
      description: plan.description,
      parameters: { type: 'object', properties: Object.fromEntries(properties), required },
    },
  }
}

function styled(name: string, naming: Naming): string {
  if (naming === 'snake') return name
  if (naming === 'kebab') return name.replaceAll('_', '-')
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function ask(
  random: Random,
  split: Split,
  { plan, declaration, names }: Declared,
): { request: string; call: ToolCall } {
  const given = new Map(
    plan.parameters.map((one) => [
      one.names[0] ?? '',
      (split === 'train' ? drawRareValue : drawValue)(random, one.kind),
    ]),
  )
  // The slots stay recognizable, to see which of them the chosen phrasing has: those arguments are given.
  const marks = Object.fromEntries([...given.keys()].map((slot) => [slot, `\ue000${slot}\ue001`]))
  const text = capitalized(
    random,
    phrase(
      random,
      split,
      plan.asks.flatMap((one) => requests(plan, one)),
      marks,
    ),
  )
  const isGiven = (slot: string) => text.includes(`\ue000${slot}\ue001`)
  for (const one of plan.parameters) {
    if (!one.optional && !isGiven(one.names[0] ?? ''))
      throw new Error(`${plan.key} is asked for without ${one.names[0]}: ${text}`)
  }
  const values = [...given].filter(([slot]) => isGiven(slot)).map(([slot, { value }]) => [names.get(slot) ?? '', value])
  const request = text.replace(/\ue000(\w+)\ue001/g, (_, slot: string) => given.get(slot)?.spoken ?? '')
  return { request, call: { name: declaration.name, arguments: Object.fromEntries(values) } }
}

function requests(plan: ToolPlan, asked: string): string[] {
  const isQuestion = asked.startsWith('?')
  const core = isQuestion ? asked.slice(1) : asked
  const last = /\{(\w+)\}$/.exec(core)?.[1]
  const open = plan.parameters.some((one) => one.names[0] === last && openKinds.includes(one.kind))
  const isStatement = /^(I |I'm|\{)/.test(core) || /[,:] [[\]|a-z ]+ it\b/.test(core) || core.endsWith(' it')
  const wraps = isQuestion
    ? questions
    : isStatement
      ? ['{ask}[.||, please]', '[Hi,|Hello,|Hey,|OK,] {ask}[.||, please]']
      : imperatives
  return (
    wraps
      // Nothing may follow a text that has no end of its own.
      .filter((wrap) => !open || !wrap.startsWith('{ask}[, '))
      .map((wrap) => (open ? wrap.replace(/(?<=\{ask\}).*/, '') : wrap).replace('{ask}', core))
  )
}
