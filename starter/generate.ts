// Writes the training text: `node starter/generate.ts <file> <examples> [--drill]`, one JSON string a line.
// A drill is for the end of the training: more of what needs most practice, less of what is learned soon.
// The same number always gives the same text.

import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { compose, composeDrill } from './compose.ts'
import { Random } from './random.ts'
import { render } from './render.ts'
import { skills } from './skills/all.ts'

const [file = '', count = ''] = process.argv.slice(2)
const isDrill = process.argv.includes('--drill')
if (file === '' || !/^\d+$/.test(count)) throw new Error('Usage: node starter/generate.ts <file> <examples>')

const output = createWriteStream(file)
/** Exact copies of words nobody has seen, their order, and choices by meaning take longest to learn. */
const drillFactors: Readonly<Record<string, number>> = {
  'off-domain': 0.8,
  summarize: 0.7,
  'tool-answer': 0.7,
  'tool-none': 0.7,
  classify: 2.4,
  extract: 1.7,
  lists: 4,
  'tool-call': 2,
}
const weights = skills.map((skill) => [skill, skill.weight * (isDrill ? (drillFactors[skill.name] ?? 1) : 1)] as const)
for (let index = 0; index < Number(count); index += 1) {
  const random = new Random(`${isDrill ? 'drill' : 'train'} ${index}`)
  const skill = random.weighted(weights)
  const conversation = isDrill ? composeDrill(random, skill, skills) : compose(random, 'train', skill, skills)
  const line = `${JSON.stringify(render(conversation))}\n`
  if (!output.write(line)) await once(output, 'drain')
}
output.end()
await once(output, 'close')
