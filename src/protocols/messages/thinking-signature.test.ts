import { equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createThinkingSignature } from './thinking-signature.ts'

const signature = createThinkingSignature(new Uint8Array(32).fill(7))
const stranger = createThinkingSignature(new Uint8Array(32).fill(8))
const wellFormed = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed())

test('shown thinking opens with its own signature and with no other text', () => {
  fc.assert(
    fc.property(wellFormed, wellFormed, (text, other) => {
      equal(signature.open(text, signature.sign(text)), text)
      if (other !== text) equal(signature.open(other, signature.sign(text)), null)
    }),
  )
})

test('hidden thinking travels in its signature, whatever text comes with it', () => {
  fc.assert(
    fc.property(wellFormed, (text) => {
      equal(signature.open('', signature.seal(text)), text)
      equal(signature.open('something else', signature.seal(text)), text)
    }),
  )
})

test('a signature changed in any character does not open', () => {
  const text = 'The user asks for the weather.'
  for (const valid of [signature.sign(text), signature.seal(text)]) {
    for (let at = 0; at < valid.length; at += 1) {
      for (const character of ['A', 'B', '/', '=', ' ', '']) {
        const changed = valid.slice(0, at) + character + valid.slice(at + 1)
        if (changed !== valid) equal(signature.open(text, changed), null, changed)
      }
    }
  }
})

test('signatures of other keys and other services do not open', () => {
  const text = 'Thinking.'
  equal(stranger.open(text, signature.sign(text)), null)
  equal(stranger.open(text, signature.seal(text)), null)
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (foreign) => equal(signature.open(text, foreign), null)),
  )
})

test('signatures are not empty, repeat for one text and hide it when sealed', () => {
  notEqual(signature.sign(''), '')
  equal(signature.seal('secret plan'), signature.seal('secret plan'))
  equal(Buffer.from(signature.seal('secret plan'), 'base64').includes('secret'), false)
})
