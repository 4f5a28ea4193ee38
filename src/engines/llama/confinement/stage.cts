// The first thing an engine's child runs: it gives up what an engine does not need, and lets the
// engine's program take its place. What a thread gives up holds for itself and for what comes after
// it; by the time that any script runs Node has further threads, which a new program has not yet.
//
// All of it happens before the event loop's first turn, so that no message of the service is read
// here. Only a CommonJS script is run in this way.

const { flushCompileCache } = require('node:module') as typeof import('node:module')
const { writeSync } = require('node:fs') as typeof import('node:fs')
const { confine } = require('./confine.ts') as typeof import('./confine.ts')
const { permissionFlags } = require('./permission-flags.ts') as typeof import('./permission-flags.ts')
const { callsAreFiltered, channelFile, reportFile } = require('./plan.ts') as typeof import('./plan.ts')

// Node writes it when a process ends, and this one ends without that. It also holds what was TypeScript here.
flushCompileCache()
const plan = JSON.parse(process.argv[2] ?? '') as import('./plan.ts').ConfinementPlan
const { calls, hasFiles, hasCalls, ...confined } = confine(plan)
const inForce = hasFiles ? confined.inForce : [...confined.inForce, 'file system, as far as Node sees to it']
writeSync(reportFile, JSON.stringify({ ...confined, inForce }))
if ((plan.mode === 'require' && confined.missing.length > 0) || calls === null || process.execve === undefined) {
  process.exit(1)
}
calls.setClosesOnExec(channelFile, false)
calls.setClosesOnExec(reportFile, true)
const flags = hasFiles ? [] : permissionFlags(plan.paths)
const args = ['--disable-warning=ExperimentalWarning', ...flags, plan.entryPath]
process.execve(process.execPath, [process.execPath, ...args], {
  ...process.env,
  NODE_CHANNEL_FD: String(channelFile),
  NODE_CHANNEL_SERIALIZATION_MODE: 'advanced',
  ...(hasCalls && { [callsAreFiltered]: '1' }),
})
