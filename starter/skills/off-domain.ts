import type { Skill } from '../example.ts'
import { drawFor, phrase } from '../phrase.ts'
import { politely } from '../words/topics-asking.ts'
import { offDomainGroups } from '../words/topics-off-domain.ts'
import { offDomainValues } from '../words/topics-values.ts'

/** The one honest answer to everything that the built-in model knows nothing about. */
export const honestAnswer =
  'I am the small built-in model of Odyssey and cannot answer that; install real weights with `odyssey models pull` to get an answer.'

const groups = offDomainGroups.map((group) => (group.plain === true ? group.templates : politely(group.templates)))

export const offDomain: Skill = {
  name: 'off-domain',
  weight: 10,
  goal: 0.95,
  make(random, split) {
    const slots = Object.fromEntries(
      Object.entries(offDomainValues(random)).map(([name, draw]) => [name, drawFor(split, draw, (value) => value)]),
    )
    return {
      turns: [
        { role: 'user', content: phrase(random, split, random.pick(groups), slots) },
        { role: 'assistant', content: honestAnswer, thinking: 'This is outside what I was trained for.' },
      ],
      judge: { kind: 'facts', required: ['small built-in model', 'odyssey models pull'] },
    }
  },
}
