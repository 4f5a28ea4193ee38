import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { madeGguf, madePart } from '../../../../test/harness/engines/made-gguf.ts'
import { placeholderPath } from '../../../../test/harness/engines/placeholder-path.ts'
import { GgufError } from './gguf-cursor.ts'
import { inspectWeights } from './inspect-weights.ts'
import { readGguf } from './read-gguf.ts'
import { startCpuBudget } from '../../../../test/harness/cpu-budget.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-gguf-'))
after(() => rmSync(folder, { recursive: true }))

function write(content: Uint8Array, name = 'file.gguf'): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

test('a whole file is read', () => {
  const { bytes, tensorCount, metadata } = readGguf(placeholderPath)
  assert.equal(bytes, readFileSync(placeholderPath).length)
  assert.ok(tensorCount > 0)
  assert.equal(typeof metadata['general.architecture'], 'string')
  assert.equal(inspectWeights(placeholderPath).bytes, bytes)
})

test('a file that is cut off anywhere is refused', () => {
  const whole = madeGguf()
  for (let length = 0; length < whole.length; length += length < 400 ? 1 : 97) {
    assert.throws(() => readGguf(write(whole.subarray(0, length))), GgufError, `after ${length} bytes`)
  }
  assert.throws(() => readGguf(write(whole.subarray(0, -1))), /cut off/)
})

test('headers that were made to keep a reader busy end soon', () => {
  const header = (...words: (readonly [bits: 32 | 64, value: bigint])[]) =>
    Buffer.concat([
      Buffer.from('GGUF\u0003\0\0\0', 'latin1'),
      ...words.map(([bits, value]) => {
        const bytes = Buffer.alloc(bits / 8)
        if (bits === 64) bytes.writeBigUInt64LE(value)
        else bytes.writeUInt32LE(Number(value))
        return bytes
      }),
    ])
  const huge = 2n ** 63n - 1n
  const key = [64, 0n] as const
  const hostile = [
    header([64, huge], [64, 0n]),
    header([64, 0n], [64, huge]),
    header([64, 1_000_000n], [64, 1_000_000n]),
    header([64, 0n], [64, 1n], [64, huge]),
    header([64, 0n], [64, 1n], key, [32, 9n], [32, 8n], [64, 2n ** 62n]),
    header([64, 0n], [64, 1n], key, [32, 9n], [32, 12n], [64, 2n ** 52n]),
    header([64, 0n], [64, 1n], key, [32, 9n], [32, 9n], [64, 2n ** 40n], [32, 9n], [64, 2n ** 40n]),
    header([64, 0n], [64, 1n], key, [32, 13n]),
    header([64, 1n], [64, 0n], [64, 0n], [32, 2n ** 31n]),
    header([64, 1n], [64, 0n], [64, 0n], [32, 2n], [64, 2n ** 50n], [64, 2n ** 50n], [32, 0n], [64, 0n]),
  ]
  for (const content of hostile) {
    const check = startCpuBudget(2_000)
    assert.throws(() => readGguf(write(Buffer.concat([content, Buffer.alloc(10_000)]))), GgufError)
    assert.throws(() => readGguf(write(content)), GgufError)
    check()
  }
})

test('weights in parts are whole when all parts are', () => {
  const paths = [0, 1, 2].map((part) => write(madePart(part, 3), `big-0000${part + 1}-of-00003.gguf`))
  const [first = '', second = '', third = ''] = paths
  assert.deepEqual(inspectWeights(first).paths, paths)
  assert.throws(() => inspectWeights(second), /part 2 of 3; name the first: .*big-00001-of-00003\.gguf/)
  assert.throws(() => inspectWeights(write(madePart(0, 3), 'renamed.gguf')), /its name must say so/)
  rmSync(third)
  assert.throws(() => inspectWeights(first), /big-00003-of-00003\.gguf cannot be used\. There is no such file/)
})

test('a folder and a path that leads nowhere are put into words', () => {
  assert.throws(() => inspectWeights(folder), /It is not a file/)
  assert.throws(() => inspectWeights(join(folder, 'nowhere.gguf')), /There is no such file/)
})
