// npm run update                       what other packages ask for, as new as may be
// npm run update -- NAME@VERSION …     a dependency of the product's own
//
// Changes package.json and package-lock.json and installs nothing. What is younger than a week is not taken. A repair
// that cannot wait is named with --younger, which then goes for this run alone: say in the commit why.

import { parseArgs } from 'node:util'
import { root } from './supply-chain/lockfile.ts'
import { releaseAgeDaysMin } from './supply-chain/policy.ts'
import { knowsReleaseAge, runNpm, updateArguments } from './supply-chain/run-npm.ts'

const { values, positionals } = parseArgs({
  options: { younger: { type: 'boolean', default: false } },
  allowPositionals: true,
})
process.exitCode = update()

function update(): number {
  if (values.younger && positionals.length === 0) {
    console.error('--younger goes with the one package that cannot wait: npm run update -- --younger NAME@VERSION')
    return 2
  }
  if (knowsReleaseAge({ folder: root }) !== true) {
    console.error('This npm takes no notice of the age of a release. Use npm 11.19 or newer.')
    return 1
  }
  const status = runNpm(updateArguments(values.younger ? 0 : releaseAgeDaysMin, positionals), { folder: root })
  if (status === 0) console.log('Read what has changed, then run: npm test -- supply-chain')
  return status
}
