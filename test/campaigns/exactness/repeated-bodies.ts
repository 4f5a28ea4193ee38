import { plainRequest, randomText, withStream, type PlainRequest } from '../plain-requests.ts'
import type { Random } from '../random.ts'

export type Body = { readonly number: number; readonly request: PlainRequest; readonly text: string }

/** A body that nobody else sends; some of them mark parts of the prompt to be kept, for an hour and for five minutes. */
export function makeBody(random: Random, number: number): Body {
  const options = { promptWordsMax: 30, outputTokensMax: random.pick([6, 6, 6, 120]), isRepeatable: false }
  const plain = withStream(plainRequest(random, options), random.chance(0.6))
  const body = { ...plain.body, ...(plain.shape === 'messages' ? { system: makeSystem(random) } : {}) }
  const own = { ...body, ...named(plain, `body-${number}`) }
  const request = { ...plain, body: own }
  return { number, request, text: JSON.stringify(own) }
}

function named({ shape }: PlainRequest, name: string) {
  return shape === 'messages' ? { metadata: { user_id: name } } : { user: name }
}

function makeSystem(random: Random) {
  const long = random.chance(0.5) && { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const short = random.chance(0.5) && { cache_control: { type: 'ephemeral' } }
  return [
    { type: 'text', text: randomText(random, random.integer(1, 200)), ...long },
    { type: 'text', text: randomText(random, random.integer(1, 40)), ...short },
  ]
}
