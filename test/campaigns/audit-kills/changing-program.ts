// Changes things, signs for the audit of it and deletes its old rows, all at once, until it is killed:
// `node changing-program.ts HOME FIRST EPOCH [DATABASE_URL]`. The number of each change that is done stands as a line of the
// file `told` in HOME. A millisecond is an hour for it, counted from EPOCH, so that rows grow old.

import { openSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { deleteOldAuditRows } from '../../../src/accounts/audit/delete-old-rows.ts'
import { checkpointFileIn } from '../../../src/accounts/transparency/checkpoint-file.ts'
import { signCheckpoint } from '../../../src/accounts/transparency/sign-checkpoints.ts'
import { openSigningKeys } from '../../../src/accounts/transparency/signing-keys.ts'
import { change } from '../../../src/db/change.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { pause } from '../campaign.ts'

// Who is killed cannot do so at its end, and the next one shall start sooner.
flushCompileCache()
const [home = '', first = '0', epoch = '0', databaseUrl = null] = process.argv.slice(2)
const organizationId = 'org_1'
const operator = { kind: 'operator' } as const
const hourMs = 3_600_000
const daysMax = 3

const db = await openDatabase({ home, databaseUrl })
const clock = { ...systemClock, nowMs: () => Number(epoch) + (Date.now() - Number(epoch)) * hourMs }
const parts = { db, clock }
const file = checkpointFileIn(home)
const signing = { keys: await openSigningKeys({ home, signer: null }, parts), name: 'log.example', file }
const told = openSync(join(home, 'told'), 'w')

async function changeOn(): Promise<never> {
  for (let number = Number(first); ; number += 1) {
    const action = { action: 'things:change', organizationId, target: String(number) } as const
    await change(parts, operator, action, (_, note) => Promise.resolve(note({ was: number }, { is: number + 1 })))
    writeSync(told, `${number}\n`)
    if (number === Number(first)) console.log('changing')
    // SQLite answers at once, and whoever never waits lets no timer of the others run.
    await nextTurn()
  }
}

async function signOn(): Promise<never> {
  for (;;) {
    const refusal = await signCheckpoint(parts, signing, organizationId)
    if (refusal !== null) throw new Error(refusal)
    await pause(1)
  }
}

async function deleteOn(): Promise<never> {
  for (;;) {
    // Whoever waits for this may kill in the midst of what follows.
    process.stdout.write('deleting\n')
    const [refused] = (await deleteOldAuditRows(parts, operator, { daysMax, file })).filter(({ refusal }) => refusal)
    if (refused !== undefined) throw new Error(refused.refusal ?? '')
    await pause(5)
  }
}

await Promise.all([changeOn(), signOn(), deleteOn()])
