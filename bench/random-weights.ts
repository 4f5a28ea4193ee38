// Weights without a meaning in the shape of a real model: how long a step takes depends on
// the shape alone. The same shape always gives the same bytes.
//
//     random-weights.ts --out FILE [--shape NAME] [--type f16|q4_0] [--layers N] [--embedding N]
//                       [--heads N] [--key-value-heads N] [--head-length N] [--feed-forward N]
//                       [--vocabulary N]

import { parseArgs } from 'node:util'
import { shapes, type Shape } from './weights/shapes.ts'
import { weightTypes } from './weights/tensors.ts'
import { writeRandomWeights } from './weights/write-random-weights.ts'
import { wholeNumber } from './whole-number.ts'

const type = 'string'
const { values } = parseArgs({
  options: {
    out: { type },
    shape: { type, default: 'half-billion' },
    type: { type, default: 'f16' },
    layers: { type },
    embedding: { type },
    heads: { type },
    'key-value-heads': { type },
    'head-length': { type },
    'feed-forward': { type },
    vocabulary: { type },
  },
})
if (values.out === undefined) throw new Error('--out takes the path of the file to write.')
const named = shapes[values.shape]
if (named === undefined) throw new Error(`--shape takes one of ${Object.keys(shapes).join(', ')}.`)
const weightType = weightTypes.find((one) => one === values.type)
if (weightType === undefined) throw new Error(`--type takes one of ${weightTypes.join(', ')}.`)

const size = writeRandomWeights(values.out, changed(named), weightType)
console.log(`${values.out}: ${Math.round(size / 1e6)} MB`)

/** The named shape with whatever else the command line says. */
function changed(shape: Shape): Shape {
  const embedding = wholeNumber('embedding', values.embedding, shape.embedding)
  const heads = wholeNumber('heads', values.heads, shape.heads)
  // Heads of a llama share the embedding's length; a llama of other widths has other heads.
  const headLength = shape.architecture === 'llama' ? Math.floor(embedding / heads) : shape.headLength
  return {
    architecture: shape.architecture,
    layers: wholeNumber('layers', values.layers, shape.layers),
    embedding,
    heads,
    keyValueHeads: wholeNumber('key-value-heads', values['key-value-heads'], shape.keyValueHeads),
    headLength: wholeNumber('head-length', values['head-length'], headLength),
    feedForward: wholeNumber('feed-forward', values['feed-forward'], shape.feedForward),
    vocabulary: wholeNumber('vocabulary', values.vocabulary, shape.vocabulary),
  }
}
