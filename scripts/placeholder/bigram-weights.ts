// Builds the tensors in closed form. Most dimensions of the model name the state of the current token, and the
// output rows read the logits of the followers from there. States with the same followers share a dimension. The rest carry context: attention
// and feed-forward layers are random and write only there, so they shade an answer without derailing it.

import type { Tokenizer } from './tokenizer.ts'
import { countTransitions, UNSEEN } from './transitions.ts'
import type { Tensor } from './write-gguf.ts'

export const shape = { layers: 2, embedding: 192, heads: 3, keyValueHeads: 1, headLength: 64, feedForward: 64 } as const

const CONTEXT_LENGTH = 32
const STATES_MAX = shape.embedding - CONTEXT_LENGTH
// The factor by which normalisation multiplies a dimension that alone is one while the rest is almost zero.
const GAIN = Math.sqrt(shape.embedding)
// The context adds a little to the length of the vector, and normalisation takes that off the other dimensions.
const STATE_GAIN = GAIN * 0.95
// How far the context may push a word, and how far it may push the word that opens a thought or an answer. The first
// stays well below the lead of a favourite; the second decides how an answer begins when nothing is left to chance.
const WORD_SHADING = 0.015
const OPENER_SHADING = 0.25

type Random = () => number

// Only integer arithmetic and additions: the same numbers on every machine, of mean zero and variance one.
const seededRandom = (seed: number): Random => {
  let state = seed
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  return () => {
    let sum = -6
    for (let count = 0; count < 12; count++) sum += uniform()
    return sum
  }
}

type Fill = (row: number, column: number) => number

const matrix = (name: string, rows: number, columns: number, fill: Fill): Tensor => {
  const data = new Float32Array(rows * columns)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) data[row * columns + column] = fill(row, column)
  }
  return { name, type: 'f16', shape: [columns, rows], data }
}

const ones = (name: string): Tensor => ({
  name,
  type: 'f32',
  shape: [shape.embedding],
  data: new Float32Array(shape.embedding).fill(1),
})

const layerTensors = (layer: number, random: Random): Tensor[] => {
  const { embedding, heads, keyValueHeads, headLength, feedForward } = shape
  const name = (part: string): string => `blk.${layer}.${part}.weight`
  const anywhere =
    (scale: number): Fill =>
    () =>
      random() * scale
  const toContext =
    (scale: number): Fill =>
    (row) =>
      row < STATES_MAX ? 0 : random() * scale
  // Attention is sharp enough that a single changed token still shows at the end of a long prompt.
  return [
    ones(name('attn_norm')),
    matrix(name('attn_q'), heads * headLength, embedding, anywhere(0.11)),
    matrix(name('attn_k'), keyValueHeads * headLength, embedding, anywhere(0.11)),
    matrix(name('attn_v'), keyValueHeads * headLength, embedding, anywhere(1 / GAIN)),
    matrix(name('attn_output'), embedding, heads * headLength, toContext(0.0055)),
    ones(name('ffn_norm')),
    matrix(name('ffn_gate'), feedForward, embedding, anywhere(1 / GAIN)),
    matrix(name('ffn_up'), feedForward, embedding, anywhere(1 / GAIN)),
    matrix(name('ffn_down'), embedding, feedForward, toContext(0.01)),
  ]
}

const describe = (row: ReadonlyMap<number, number>): string => JSON.stringify([...row].sort(([a], [b]) => a - b))

export const bigramWeights = (tokenizer: Tokenizer): Tensor[] => {
  const { stateOf, followers, fallback, openers } = countTransitions(tokenizer)
  const random = seededRandom(20250101)
  const rows = new Map([...followers.values()].map((row) => [describe(row), row]))
  if (rows.size > STATES_MAX) throw new Error(`${rows.size} kinds of state do not fit in ${STATES_MAX} dimensions`)
  const dimensions = new Map([...rows.keys()].map((description, dimension) => [description, dimension]))
  const dimensionOf = tokenizer.tokens.map((_, token) =>
    dimensions.get(describe(followers.get(stateOf(token) ?? UNSEEN)!))!,
  )
  const rowOf = [...rows.values()]
  const reachable = new Set([...followers.values()].flatMap((row) => [...row.keys()]))

  // The few random numbers behind its state tell a token apart from others of the same state.
  const embeddings = matrix('token_embd.weight', tokenizer.tokens.length, shape.embedding, (token, column) => {
    if (column >= STATES_MAX) return random() * 0.03
    return column === dimensionOf[token] ? 1 : 0
  })
  const output = matrix('output.weight', tokenizer.tokens.length, shape.embedding, (token, column) => {
    const row = rowOf[column]
    if (row !== undefined) return (row.get(token) ?? fallback.get(token) ?? 0) / STATE_GAIN
    if (column < STATES_MAX || !reachable.has(token)) return 0
    return random() * (openers.has(token) ? OPENER_SHADING : WORD_SHADING)
  })
  const layers = Array.from({ length: shape.layers }, (_, layer) => layerTensors(layer, random)).flat()
  return [embeddings, ...layers, ones('output_norm.weight'), output]
}
