import type { Format } from './formats.ts'
import type { Shape } from './shapes.ts'

/** `shape` is in the container's order: the length of one row first, then the number of rows. */
export type Tensor = { readonly name: string; readonly format: Format; readonly shape: readonly number[] }

/** The types of a file's tensors, by the name that llama.cpp's own quantizer has for the mixture. */
export const weightTypes = ['f16', 'q4_0'] as const
export type WeightType = (typeof weightTypes)[number]

/** The output layer is the embedding, as in real models of up to a few billion numbers. */
export function listTensors(shape: Shape, type: WeightType): Tensor[] {
  const blocks = Array.from({ length: shape.layers }, (_, layer) => listBlock(shape, type, `blk.${layer}`))
  // The embedding of a file in four bits has six, since it makes the output: the quantizer does the same.
  const embedding = matrix('token_embd', type === 'q4_0' ? 'q6_k' : type, [shape.embedding, shape.vocabulary])
  return [embedding, ...blocks.flat(), norm('output_norm', shape.embedding)]
}

function listBlock(shape: Shape, type: WeightType, block: string): Tensor[] {
  const { embedding, feedForward } = shape
  const queryWidth = shape.headLength * shape.heads
  const keyValueWidth = shape.headLength * shape.keyValueHeads
  const headNorms = ['attn_q_norm', 'attn_k_norm'].map((name) => norm(`${block}.${name}`, shape.headLength))
  return [
    norm(`${block}.attn_norm`, embedding),
    matrix(`${block}.attn_q`, type, [embedding, queryWidth]),
    matrix(`${block}.attn_k`, type, [embedding, keyValueWidth]),
    matrix(`${block}.attn_v`, type, [embedding, keyValueWidth]),
    matrix(`${block}.attn_output`, type, [queryWidth, embedding]),
    ...(shape.architecture === 'qwen3' ? headNorms : []),
    norm(`${block}.ffn_norm`, embedding),
    matrix(`${block}.ffn_gate`, type, [embedding, feedForward]),
    matrix(`${block}.ffn_up`, type, [embedding, feedForward]),
    matrix(`${block}.ffn_down`, type, [feedForward, embedding]),
  ]
}

function matrix(name: string, format: Format, shape: readonly [columns: number, rows: number]): Tensor {
  return { name: `${name}.weight`, format, shape }
}

function norm(name: string, length: number): Tensor {
  return { name: `${name}.weight`, format: 'f32', shape: [length] }
}
