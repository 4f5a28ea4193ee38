import type { ModelId } from './model.ts'

/** What clients of other vendors' models ask for here instead. */
export type ModelEquivalent = {
  /** The kind of model that it takes the place of. */
  readonly kind: string
  readonly model: ModelId
  /** Names of that kind as people have them in their settings. */
  readonly examples: readonly string[]
  readonly pattern: RegExp
}

/**
 * The first that matches a name holds: a small model's name is a larger one's with a word more.
 *
 * The patterns go by the words in which vendors tell the sizes of a family apart, so that the next version of a family
 * is known too.
 */
export const modelEquivalents: readonly ModelEquivalent[] = [
  {
    kind: 'small reasoning model',
    model: 'hal-1.0',
    examples: ['o1-mini', 'o3-mini', 'o4-mini', 'deepseek-reasoner'],
    pattern: /^o\d+(-|$)|^deepseek-(reasoner|r\d)|thinking/,
  },
  {
    kind: 'small fast model',
    model: 'tycho-1.0',
    examples: ['gpt-4o-mini', 'gpt-5-nano', 'claude-haiku-4-5', 'gemini-2.5-flash-lite', 'mistral-small-latest'],
    pattern:
      /^(gpt|chatgpt)-.*(mini|nano)|^gpt-3\.5|haiku|^gemini-.*flash|^(mi|mini)stral-?(small|tiny|\d)|^command-r7b/,
  },
  {
    kind: 'top reasoning model',
    model: 'hal-1.0',
    examples: ['gpt-5-pro', 'claude-opus-4-8', 'gemini-2.5-pro', 'grok-4'],
    pattern: /^gpt-.*-pro(-|$)|opus|fable|^gemini-.*(pro|ultra)|^grok-/,
  },
  {
    kind: 'general mid model',
    model: 'clarke-1.0',
    examples: ['gpt-4o', 'gpt-5', 'claude-sonnet-5', 'mistral-large-latest', 'command-r-plus', 'deepseek-chat'],
    pattern: /^(gpt|chatgpt)-|sonnet|^claude-|^(mistral|command|deepseek|llama|qwen)-/,
  },
]

/** Names are short; one that is longer is none, and is not searched. */
const nameLengthMax = 200

/** What takes the place of a model that is not offered here; null where its name says nothing of its kind. */
export function findEquivalent(name: string): ModelEquivalent | null {
  if (name.length > nameLengthMax) return null
  // Gateways put the vendor's name before it, with a slash or a dot.
  const bare = name.toLowerCase().replace(/^.*\/|^(us\.|eu\.|apac\.|global\.)?(anthropic|openai|google|mistral)\./g, '')
  return modelEquivalents.find(({ pattern }) => pattern.test(bare)) ?? null
}

/** The model that an error suggests; null where there is none, or none that the caller may know of. */
export function suggestModel(name: string, available: readonly string[]): string | null {
  const model = findEquivalent(name)?.model
  return model !== undefined && available.includes(model) ? model : null
}
