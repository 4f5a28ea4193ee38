import { deepEqual, equal, ok } from 'node:assert/strict'
import { verifyLedger } from '../../../src/billing/audits/verify-ledger.ts'
import { rollUp } from '../../../src/billing/usage/roll-up.ts'
import { readRows, tokensTaken } from './ledger-of.ts'
import { kinds, type Answer, type Keys } from './outage-load.ts'
import { microsMaxOf, outputPerMinute, type Away, type Course } from './outage-course.ts'
import type { Shared } from './start-gateways.ts'
import { mostOverBucket } from './windows.ts'

/**
 * A repeated request waits a second for PostgreSQL to tell whether the one before it was answered;
 * one with a limit waits five more to be told whether anything is left. The rest is for the machine.
 */
const answerMsMax = { free: 3_000, limited: 8_000, paid: 8_000 } as const
/** What is left when nothing more can be bought is less than the dearest request. */
const usableShare = 0.95

/** Known keys are served all the time; where a limit cannot be checked, it is said so and soon. */
export function checkAnswers(answers: readonly Answer[], away: Away, { outage, failures, isTimed }: Course): void {
  for (const { kind, status, text, askedMs, tookMs, id } of answers) {
    const after = `${((askedMs - away.fromMs) / 1_000).toFixed(1)} s after PostgreSQL ${outage}`
    const allowed = kind === 'free' ? [200] : kind === 'limited' ? [200, 503] : [200, 429, 503]
    if (status === null || !allowed.includes(status)) {
      failures.add(`${kind}: ${status} ${text.slice(0, 200)}`, `${id}, ${after}`)
    }
    if (isTimed && tookMs > answerMsMax[kind]) {
      failures.add(
        `${kind}: an answer took longer than ${answerMsMax[kind]} ms`,
        `${id}, ${after}, ${Math.round(tookMs)} ms`,
      )
    }
  }
}

/** Every acknowledged answer has exactly one row with what the client was told, and limits and budgets were kept. */
export async function checkRows(
  { db }: Shared,
  { keys, answers }: { readonly keys: Keys; readonly answers: readonly Answer[] },
  course: Course,
): Promise<void> {
  const { outage, failures } = course
  for (const kind of kinds) {
    const rows = await readRows(db, keys[kind])
    failures.check(`${outage}, ${kind}`, () => {
      const finished = rows.filter(({ outcome }) => outcome === 'finished')
      const found = finished.map(({ request_id: id, ...row }) => {
        const { input_uncached: uncached, input_cache_write: written, input_cache_read: read, output } = row
        return [id, { uncached, written, read, output }] as const
      })
      const told = answers.flatMap((answer) =>
        answer.kind === kind && answer.usage !== null ? [[answer.id, answer.usage] as const] : [],
      )
      equal(found.length, told.length, `${found.length} rows of ${told.length} acknowledged answers`)
      deepEqual(Object.fromEntries(found), Object.fromEntries(told))
    })
    if (kind === 'limited') {
      const over = mostOverBucket(
        tokensTaken(rows, ({ output }) => output),
        outputPerMinute,
      )
      failures.check(outage, () => ok(over <= 0, `a window has ${over} output tokens more than it may`))
    }
    if (kind !== 'paid') continue
    const microsMax = microsMaxOf(course)
    const spent = rows.reduce((sum, { cost_micros: cost }) => sum + (cost ?? 0), 0)
    failures.check(outage, () => {
      ok(spent <= microsMax, `${spent} of ${microsMax} were spent`)
      ok(spent >= microsMax * usableShare, `only ${spent} of ${microsMax} could be spent`)
    })
  }
  await rollUp(db)
  await verifyLedger({ db, currency: 'USD' }, ({ subject, fault }) => failures.add(fault, `${outage}, ${subject}`))
}
