/** What decides how long a step takes: the widths of a model and how many layers it has. */
export type Shape = {
  /** `qwen3` also normalizes queries and keys, and its heads need not share the embedding's length among them. */
  readonly architecture: 'llama' | 'qwen3'
  readonly layers: number
  readonly embedding: number
  readonly heads: number
  readonly keyValueHeads: number
  readonly headLength: number
  readonly feedForward: number
  /** How many tokens there are. */
  readonly vocabulary: number
  /** How many tokens it sees at once; 40,960 unless it says otherwise. */
  readonly windowTokens?: number
}

/** Widths and vocabulary of Qwen2.5-0.5B with 14 of its 24 layers, which keeps the file below 700 MB. */
export const halfBillion: Shape = {
  architecture: 'llama',
  layers: 14,
  embedding: 896,
  heads: 14,
  keyValueHeads: 2,
  headLength: 64,
  feedForward: 4_864,
  vocabulary: 151_936,
}

/** As in the `config.json` of Qwen/Qwen3-0.6B. */
const qwen3: Shape = {
  architecture: 'qwen3',
  layers: 28,
  embedding: 1_024,
  heads: 16,
  keyValueHeads: 8,
  headLength: 128,
  feedForward: 3_072,
  vocabulary: 151_936,
}

/** All of these have their output layer in common with the embedding, as the real models do. */
export const shapes: Readonly<Record<string, Shape>> = {
  'half-billion': halfBillion,
  'qwen3-0.6b': qwen3,
  // As in the `config.json` of Qwen/Qwen3-1.7B.
  'qwen3-1.7b': { ...qwen3, embedding: 2_048, feedForward: 6_144 },
  // As in the `config.json` of Qwen/Qwen3-4B.
  'qwen3-4b': { ...qwen3, layers: 36, embedding: 2_560, heads: 32, feedForward: 9_728 },
}

/** Throws for a shape that no model can have. */
export function checkShape({ architecture, embedding, heads, keyValueHeads, headLength }: Shape): void {
  if (architecture === 'llama' && headLength * heads !== embedding)
    throw new Error(`${embedding} numbers cannot be shared by ${heads} heads.`)
  if (headLength % 2 !== 0) throw new Error(`${headLength} is no even length for a head.`)
  if (heads % keyValueHeads !== 0) throw new Error(`${heads} heads cannot share ${keyValueHeads}.`)
}
