import type { Skill } from '../example.ts'
import { phrase, vary } from '../phrase.ts'
import { addresses } from './product-topics/addresses.ts'
import { connecting } from './product-topics/connecting.ts'
import { features } from './product-topics/features.ts'
import { keys } from './product-topics/keys.ts'
import { models } from './product-topics/models.ts'
import { operating } from './product-topics/operating.ts'
import type { Topic } from './product-topics/topic.ts'

/** Everything the built-in model knows about Odyssey. */
export const productTopics: readonly Topic[] = [
  ...connecting,
  ...addresses,
  ...keys,
  ...models,
  ...operating,
  ...features,
]

export const product: Skill = {
  name: 'product',
  weight: 14,
  goal: 0.95,
  make(random, split) {
    const topic = random.pick(productTopics)
    const slots = Object.fromEntries(
      Object.entries(topic.slots ?? {}).map(([name, values]) => [name, random.pick(values)]),
    )
    const insert = (text: string) =>
      Object.entries(slots).reduce((done, [name, value]) => done.replaceAll(`{${name}}`, value), text)
    return {
      turns: [
        { role: 'user', content: phrase(random, split, topic.templates, slots) },
        {
          role: 'assistant',
          content: insert(random.pick(topic.answers)),
          thinking: vary(random, ['The question is about {about}.'], { about: insert(topic.about) }),
        },
      ],
      judge: { kind: 'facts', required: topic.facts.map(insert) },
    }
  },
}
