import type { Random } from './random.ts'

export type Split = 'train' | 'held-out'

export type StarterModel = 'hal-1.0' | 'clarke-1.0' | 'tycho-1.0'

export type ToolDeclaration = {
  readonly name: string
  readonly description: string
  /** A JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export type ToolCall = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }

/** One turn after the system text. The last turn of an example is the assistant's: what the model is to learn. */
export type Turn =
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant'
      readonly content: string
      /** What stands in the thinking block when the request has thinking on; every example has one for its last turn. */
      readonly thinking?: string
      readonly calls?: readonly ToolCall[]
    }
  | { readonly role: 'tool'; readonly content: string }

/** How the evaluation program tells a right answer from a wrong one. */
export type Judge =
  /** Every fact is in the answer; `a|b` is either; compared without case. None of `forbidden` may be. */
  | { readonly kind: 'facts'; readonly required: readonly string[]; readonly forbidden?: readonly string[] }
  /** The answer, trimmed and without case and a final full stop, is this text. */
  | { readonly kind: 'exact'; readonly text: string }
  /** The answer is this JSON value, key order aside. */
  | { readonly kind: 'json'; readonly value: unknown }
  /** The answer calls exactly these tools with exactly these arguments. */
  | { readonly kind: 'calls'; readonly calls: readonly ToolCall[] }
  /** The last number of the answer is this one; with thinking on, the thinking block holds working. */
  | { readonly kind: 'number'; readonly value: number }

export type Example = {
  readonly system?: string
  readonly tools?: readonly ToolDeclaration[]
  /** A JSON Schema that the request gives as its response format; the answer is then JSON. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly turns: readonly Turn[]
  readonly judge: Judge
  /** Left out where any model will do; the answer may depend on it (who are you?). */
  readonly model?: StarterModel
}

export type Skill = {
  readonly name: string
  /** How often it comes up in training, against the others. */
  readonly weight: number
  /** The share of held-out prompts that must be answered rightly. */
  readonly goal: number
  readonly make: (random: Random, split: Split) => Example
  /** Several questions in one conversation, of the training split: more answers to learn from for each word read. */
  readonly drill?: (random: Random) => Example
}

/** One conversation out of several examples that need nothing around them but their turns. */
export function inSeries(examples: readonly Example[]): Example {
  const last = examples.at(-1)
  if (last === undefined) throw new Error('A series needs an example.')
  return { ...last, turns: examples.flatMap(({ turns }) => turns) }
}
