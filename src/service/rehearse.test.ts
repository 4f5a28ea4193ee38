import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { openFormats } from '../protocols/formats.ts'
import type { Protocol } from '../protocols/protocol.ts'
import { rehearse } from './rehearse.ts'

/** A protocol that notes the last frame of each stream that it has written to its end. */
function noteEnds(protocol: Protocol, ends: string[]): Protocol {
  return {
    ...protocol,
    decode(body) {
      const decoded = protocol.decode(body)
      const { encoder } = decoded
      async function* encodeStream(...given: Parameters<typeof encoder.encodeStream>) {
        let last = ''
        for await (const message of encoder.encodeStream(...given)) {
          last = message.data
          yield message
        }
        ends.push(last)
      }
      return { ...decoded, encoder: { encodeAnswer: encoder.encodeAnswer, encodeStream } }
    },
  }
}

test('each format writes whole answers before anybody asks', async () => {
  const ends: string[] = []
  const formats = openFormats({ signatureKey: new Uint8Array(32), readFingerprint: () => 'fp_test' })
  await rehearse(formats.map((format) => ({ ...format, protocol: noteEnds(format.protocol, ends) })))
  deepEqual(new Set(ends), new Set(['[DONE]', '{"type":"message_stop"}']))
})
