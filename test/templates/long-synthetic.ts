// The long form of the tests of made-up templates: how many are derived, refused or wrong.
//
//     node test/templates/long-synthetic.ts --main 3000 --rare 2000 --seed 1

import { parseArgs } from 'node:util'
import { createRandom, type Random } from '../campaigns/random.ts'
import { checkSynthetic } from './check-synthetic.ts'
import { synthesizeNotation } from './synthetic-notations.ts'
import { synthesize } from './synthetic.ts'

const { values } = parseArgs({
  options: {
    main: { type: 'string', default: '3000' },
    rare: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
  },
})

type Synthetic = { readonly family: string; readonly source: string }

let wrong = 0
run('main', Number(values.main), synthesize)
run('rare', Number(values.rare), synthesizeNotation)
process.exitCode = wrong > 0 ? 1 : 0

function run(title: string, count: number, make: (random: Random) => Synthetic): void {
  const counts = new Map<string, number>()
  const add = (outcome: string) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  for (let number = 0; number < count; number++) {
    const { family, source } = make(createRandom(Number(values.seed), number))
    try {
      const format = checkSynthetic(source)
      if (format === null) console.log(`${title} ${number} (${family}) is refused: it renders no conversation`)
      add(format === null ? 'refused' : format.isGeneric && family !== 'no-tools' ? `generic ${family}` : family)
    } catch (error) {
      wrong += 1
      add('wrong')
      console.log(`${title} ${number} (${family}): ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  console.log(title, Object.fromEntries(counts))
}
