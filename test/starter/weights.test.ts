import { equal, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

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
