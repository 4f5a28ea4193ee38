import { deepEqual, equal, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { getLlama, type LlamaModel } from 'node-llama-cpp'

const folder = new URL('../../weights/', import.meta.url)
const weights = readFileSync(new URL('starter.gguf', folder))

test('the starter weights are those of the manifest, and small', () => {
  const checksum = createHash('sha256').update(weights).digest('hex')
  equal(readFileSync(new URL('starter.sha256', folder), 'utf8'), `${checksum}  starter.gguf\n`)
  ok(weights.length < 24 * 1024 * 1024)
})

test('the starter weights carry the chat template of their recipe', () => {
  const template = readFileSync(new URL('../../starter/template.jinja', import.meta.url), 'utf8').replaceAll(
    '\r\n',
    '\n',
  )
  ok(weights.includes(Buffer.from(template)))
})

describe('the vocabulary of the starter weights', () => {
  let model: LlamaModel
  const piecesOf = (text: string) => model.tokenize(text).map((token) => model.detokenize([token]))

  before(async () => {
    const llama = await getLlama({ gpu: false, build: 'never' })
    model = await llama.loadModel({ modelPath: fileURLToPath(new URL('starter.gguf', folder)), vocabOnly: true })
  })
  after(() => model.dispose())

  test('has the same pieces for a word that nobody knows, wherever it stands', () => {
    const bare = piecesOf('zquivrom')
    ok(bare.length > 1)
    for (const before of ['"', '(', '/']) deepEqual(piecesOf(`${before}zquivrom`), [before, ...bare])
    // A piece that is a frequent word as well may have the space with it.
    const spaced = piecesOf(' zquivrom').map((piece) => piece.trim())
    deepEqual(
      spaced.filter((piece) => piece !== ''),
      bare,
    )
  })

  test('begins the value of a key with a piece of its own, whatever its type', () => {
    for (const value of ['"a"', '8', '["a"]', '"/a"', 'true']) {
      const pieces = piecesOf(`{"amount":${value}}`)
      ok(pieces.includes('":'), pieces.join(' '))
    }
  })

  test('lets every digit be a piece', () => {
    deepEqual(piecesOf('2026'), ['2', '0', '2', '6'])
  })
})
