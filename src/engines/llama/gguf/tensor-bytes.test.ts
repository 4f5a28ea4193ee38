import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { blockOf } from './read-gguf.ts'

const [library] = globSync('node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libggml-base.so')
const isThere = library !== undefined && process.platform === 'linux' && process.arch === 'x64'

test('every type of tensor is as large as the engine says, and none is missing', { skip: !isThere }, async () => {
  const ffi = await import('node:ffi')
  const { functions } = ffi.dlopen(resolve(library ?? ''), {
    ggml_type_size: { arguments: ['i32'], return: 'u64' },
    ggml_blck_size: { arguments: ['i32'], return: 'i64' },
  })
  // Types follow each other from 0 on; the number after the last one is that of no type, and asking for it ends the process.
  for (let type = 0; type <= 42; type++) {
    const numbers = Number(functions.ggml_blck_size(type))
    const expected = numbers === 0 ? null : { numbers, bytes: Number(functions.ggml_type_size(type)) }
    assert.deepEqual(blockOf(type), expected, `type ${type}`)
  }
})
