// Writes the training text: `node starter/generate.ts <file> <examples> [--mix NAME] [--from N]`, one JSON string a
// line, beginning with the example of that number. The same number always gives the same text. The mixes:
//
//     train   all skills as they weigh, with questions that stand alone; the default
//     drill   more of what needs most practice, less of what is learned soon, several questions in a conversation

import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { compose, composeDrill } from './compose.ts'
import { Random } from './random.ts'
import { render } from './render.ts'
import { skills } from './skills/all.ts'

/** How much more of a skill there is than its weight says. */
type Factors = Readonly<Record<string, number>>

const mixes: Readonly<Record<string, Factors>> = {
  train: {},
  // Exact copies of words nobody has seen, their order, and choices by meaning take longest to learn.
  drill: {
    'off-domain': 0.8,
    summarize: 0.7,
    'tool-answer': 0.7,
    'tool-none': 0.7,
    classify: 2.4,
    extract: 1.7,
    lists: 3,
    'tool-call': 3.5,
  },
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { mix: { type: 'string', default: 'train' }, from: { type: 'string', default: '0' } },
})
const [file = '', count = ''] = positionals
const factors = mixes[values.mix]
if (file === '' || !/^\d+$/.test(count) || !/^\d+$/.test(values.from) || factors === undefined) {
  throw new Error(
    `Usage: node starter/generate.ts <file> <examples> [--mix ${Object.keys(mixes).join('|')}] [--from N]`,
  )
}

const output = createWriteStream(file)
const weights = skills.map((skill) => [skill, skill.weight * (factors[skill.name] ?? 1)] as const)
const first = Number(values.from)
for (let index = first; index < first + Number(count); index += 1) {
  const random = new Random(`${values.mix} ${index}`)
  const skill = random.weighted(weights)
  const conversation =
    values.mix === 'train' ? compose(random, 'train', skill, skills) : composeDrill(random, skill, skills)
  const line = `${JSON.stringify(render(conversation))}\n`
  if (!output.write(line)) await once(output, 'drain')
}
output.end()
await once(output, 'close')
