import type { Example, Skill, Split, StarterModel, ToolDeclaration, Turn } from './example.ts'
import type { Random } from './random.ts'
import { makeSystemText } from './surroundings.ts'

/** An example as a whole request: who is asked, with what around the question, thinking or not. */
export type Conversation = Example & {
  readonly skill: string
  readonly model: StarterModel
  readonly thinks: boolean
}

const models: readonly StarterModel[] = ['hal-1.0', 'clarke-1.0', 'tycho-1.0']

/** Puts a question into surroundings: another system text, earlier turns, any of the models, thinking on or off. */
export function compose(random: Random, split: Split, skill: Skill, skills: readonly Skill[]): Conversation {
  return surround(random, skill.make(random, split), skill, skills)
}

/** The same with a series of questions, for most of the examples of a skill that has any. */
export function composeDrill(random: Random, skill: Skill, skills: readonly Skill[]): Conversation {
  if (skill.drill === undefined || random.chance(0.4)) return compose(random, 'train', skill, skills)
  return surround(random, skill.drill(random), skill, skills)
}

function surround(random: Random, example: Example, skill: Skill, skills: readonly Skill[]): Conversation {
  const model = example.model ?? random.pick(models)
  const thinks = random.chance(0.45)
  const system = example.system ?? makeSystemText(random)
  const history = random.chance(0.15) ? makeHistory(random, model, skills) : []
  return {
    ...example,
    ...(system !== null && { system }),
    ...(example.tools !== undefined && { tools: decorate(random, example.tools) }),
    skill: skill.name,
    model,
    thinks,
    turns: [...history, ...example.turns].map((turn) => settleThinking(turn, thinks, skill.name)),
  }
}

/** Earlier turns are of the training split also for held-out questions: only the question itself must be new. */
function makeHistory(random: Random, model: StarterModel, skills: readonly Skill[]): Turn[] {
  const turns: Turn[] = []
  const count = random.integer(1, 2)
  for (let attempt = 0; attempt < 8 && turns.length < 2 * count; attempt += 1) {
    const skill = random.weighted(skills.map((candidate) => [candidate, candidate.weight] as const))
    const example = skill.make(random, 'train')
    const isPlain = example.tools === undefined && example.system === undefined && example.schema === undefined
    if (!isPlain || (example.model ?? model) !== model || example.turns.length > 2) continue
    turns.push(...example.turns.map((turn) => settleThinking(turn, random.chance(0.5), skill.name)))
  }
  return turns
}

/** Sums are worked out step by step in any case: where there is no thinking, before the answer. */
function settleThinking(turn: Turn, thinks: boolean, skill: string): Turn {
  if (turn.role !== 'assistant' || thinks) return turn
  const { thinking, ...rest } = turn
  if (skill !== 'arithmetic' || thinking === undefined) return rest
  return { ...rest, content: `${thinking}\n${turn.content}` }
}

/** Libraries that make schemas from code add keywords of their own. */
function decorate(random: Random, tools: readonly ToolDeclaration[]): ToolDeclaration[] {
  const before = random.chance(0.08) ? { $schema: 'https://json-schema.org/draft/2020-12/schema' } : {}
  const after = random.chance(0.25) ? { additionalProperties: false } : {}
  return tools.map((tool) => ({ ...tool, parameters: { ...before, ...tool.parameters, ...after } }))
}
