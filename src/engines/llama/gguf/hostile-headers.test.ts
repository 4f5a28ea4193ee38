import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { madeGguf, madePart } from '../../../../test/harness/engines/made-gguf.ts'
import { GgufError } from './gguf-cursor.ts'
import { inspectWeights } from './inspect-weights.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-hostile-'))
after(() => rmSync(folder, { recursive: true }))

function write(content: Uint8Array, name = 'file.gguf'): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function refuses(content: Uint8Array, reason: RegExp): void {
  const path = write(content)
  assert.throws(
    () => inspectWeights(path),
    (error) => error instanceof GgufError && reason.test(error.message),
  )
}

const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
const u64 = (value: bigint) => Buffer.from(BigUint64Array.of(value).buffer)
const f64 = (value: number) => Buffer.from(Float64Array.of(value).buffer)
const text = (value: string) => Buffer.concat([u64(BigInt(value.length)), Buffer.from(value, 'latin1')])

type Tensor = { name?: string; shape?: readonly bigint[]; type?: number; offset?: bigint }

/** A header word by word, so that it can say what no writer would write. */
function header(entries: readonly Buffer[], tensors: readonly Tensor[] = [], dataBytes = 0): Buffer {
  const standard = [
    Buffer.concat([text('general.architecture'), u32(8), text('made-up')]),
    Buffer.concat([text('tokenizer.ggml.model'), u32(8), text('gpt2')]),
  ]
  const all = [...standard, ...entries]
  const described = tensors.map(({ name = 'a', shape = [32n], type = 0, offset = 0n }) =>
    Buffer.concat([text(name), u32(shape.length), ...shape.map(u64), u32(type), u64(offset)]),
  )
  const start = Buffer.from('GGUF\u0003\0\0\0', 'latin1')
  const whole = Buffer.concat([start, u64(BigInt(tensors.length)), u64(BigInt(all.length)), ...all, ...described])
  return Buffer.concat([whole, Buffer.alloc(((32 - (whole.length % 32)) % 32) + dataBytes)])
}

const number = (name: string, value: number, type = 4) =>
  Buffer.concat([text(name), u32(type), type === 4 ? u32(value) : f64(value)])

suite('a header is refused', () => {
  test('whose tensors are not where a writer puts them', () => {
    assert.equal(inspectWeights(write(header([], [{}], 128))).architecture, 'made-up')
    const twoTensors = (offset: bigint) => header([], [{}, { name: 'b', offset }], 256)
    assert.equal(inspectWeights(write(twoTensors(128n))).architecture, 'made-up')
    for (const offset of [0n, 32n, 127n, 129n, 160n, 2n ** 52n]) refuses(twoTensors(offset), /out of its place/)
    refuses(twoTensors(2n ** 63n), /cannot be true/)
    refuses(header([], [{}, { offset: 128n }], 256), /same tensor twice/)
    refuses(header([], [{ name: 'a'.repeat(64) }], 128), /too long/)
  })

  test('whose tensors have a shape or a type that cannot be', () => {
    refuses(header([], [{ shape: [] }], 128), /number of dimensions/)
    refuses(header([], [{ shape: [32n, 1n, 1n, 1n, 1n] }], 128), /number of dimensions/)
    refuses(header([], [{ shape: [0n] }], 128), /without content/)
    refuses(header([], [{ shape: [2n ** 27n, 2n ** 27n] }], 128), /larger than any disk/)
    refuses(header([], [{ shape: [2n ** 53n - 1n] }], 128), /larger than any disk|cut off/)
    refuses(header([], [{ shape: [31n], type: 8 }], 128), /broken rows/)
    for (const type of [4, 31, 36, 43, 2 ** 31]) refuses(header([], [{ type }], 128), /does not know/)
    refuses(header([], [{ shape: [33n] }], 128), /cut off/)
  })

  test('a header that names a key twice or nests lists is refused', () => {
    refuses(header([number('made-up.block_count', 2), number('made-up.block_count', 3)]), /same thing twice/)
    const nested = Buffer.concat([text('list'), u32(9), u32(9), u64(1n), u32(9), u64(1n), u32(4), u64(0n)])
    refuses(header([nested]), /lists within lists/)
    refuses(
      header([Buffer.concat([text('list'), u32(9), u32(0), u64(9_000_000n), Buffer.alloc(9_000_000)])]),
      /too long/,
    )
  })

  test('whose alignment is none', () => {
    for (const value of [0, 3, 48, 2 ** 31]) refuses(header([number('general.alignment', value)]), /alignment/)
    refuses(header([number('general.alignment', 32.5, 12)]), /alignment/)
    refuses(header([Buffer.concat([text('general.alignment'), u32(8), text('32')])]), /alignment/)
  })

  test('whose model would keep the engine looping, dividing by nothing or short of memory', () => {
    for (const name of ['block_count', 'context_length', 'embedding_length', 'expert_count']) {
      refuses(header([number(`made-up.${name}`, 2 ** 32 - 1)]), new RegExp(name))
      // Whatever type of number it is written in.
      refuses(header([number(`made-up.${name}`, 1e15, 12)]), new RegExp(name))
      refuses(header([number(`made-up.${name}`, Number.NaN, 12)]), new RegExp(name))
      refuses(header([Buffer.concat([text(`made-up.${name}`), u32(9), u32(4), u64(1n), u32(1)])]), new RegExp(name))
    }
    refuses(header([number('made-up.block_count', 0)]), /block_count/)
    const counts = Buffer.concat([text('made-up.attention.head_count'), u32(9), u32(4), u64(2n), u32(8), u32(2 ** 31)])
    refuses(header([counts]), /head_count/)
    refuses(header([number('made-up.expert_used_count', 9), number('made-up.expert_count', 8)]), /more experts/)
  })
})

test('a file that says of itself that it is in four thousand million parts is refused', () => {
  const path = write(madeGguf({ 'split.count': { type: 'uint32', value: 2 ** 32 - 1 } }))
  assert.throws(() => inspectWeights(path), GgufError)
})

test('parts of two models are not taken for one', () => {
  const paths = [madePart(0, 2), madePart(0, 2)].map((part, at) => write(part, `mixed-0000${at + 1}-of-00002.gguf`))
  assert.throws(() => inspectWeights(paths[0] ?? ''), /mixed-00002-of-00002\.gguf .*should be part 2 of 2/)
})
