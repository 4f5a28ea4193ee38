import { type Example, inSeries, type Skill, type Split } from '../example.ts'
import { phrase, vary } from '../phrase.ts'
import type { Random } from '../random.ts'
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
  make: (random, split) => about(random, split, random.pick(productTopics)),
  drill(random) {
    // Topics that stand together in the list are near to each other: asked together, they are told apart.
    const start = random.integer(0, productTopics.length - 1)
    const near = Array.from({ length: 6 }, (_, index) => productTopics[(start + index) % productTopics.length])
    const chosen = random.sample(near, random.integer(2, 4))
    return inSeries(chosen.flatMap((topic) => (topic === undefined ? [] : [about(random, 'train', topic)])))
  },
}

function about(random: Random, split: Split, topic: Topic): Example {
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
}
