import { sessionPlan, turnCount } from './session-plan.ts'
import type { SessionOutcome } from './run-session.ts'
import type { Call } from './wire-record.ts'

export type Played = { readonly turns: number; readonly processes: number; readonly faults: readonly string[] }

export type Evidence = Played & {
  readonly calls: readonly Call[]
  readonly counts: { readonly errands: number; readonly summaries: number }
  readonly warnings: readonly string[]
  readonly debugLines: number
  /** The sum over the ledger's rows. */
  readonly outcomes: readonly string[]
  readonly seconds: number
}

/**
 * Warnings of a debug log that have nothing to do with the service: the client's own folder, a name of a
 * model that the vendor does not have, and machines of the vendor that it cannot reach here.
 */
const besides = [
  /Failed to save config with lock/,
  /isn't described by this version's model catalog/,
  /doesn't recognize the model/,
  /MCP registry/,
  /event logging/,
  /telemetry/i,
]

/** The refusal that the plan has the service make, in the client's log. */
const intended = /prompt is too long: 1200000 tokens > 999999 maximum/

/** Whatever a debug log warns of that is not known to be about something else. */
export function protocolWarnings(lines: readonly string[]): string[] {
  const warned = lines.filter((line) => /\[(WARN|ERROR)\]/.test(line))
  return warned.filter((line) => !intended.test(line) && !besides.some((known) => known.test(line)))
}

/** What came of a session, and all that is wrong with it. */
export function judgeSession(evidence: Evidence): SessionOutcome {
  const { turns, processes, calls, counts, warnings, outcomes, debugLines, seconds } = evidence
  const of = (isOne: (call: Call) => boolean) => calls.filter(isOne).length
  const planned = (kind: string) => sessionPlan.filter((step) => step.kind === kind).length
  const left = of(({ isLeft }) => isLeft)
  const well = of(({ isLeft, status, fault }) => !isLeft && status === 200 && fault === null)
  const refused = of(({ isLeft, status }) => !isLeft && status === 400)
  const aborted = outcomes.filter((outcome) => outcome === 'aborted').length
  const expectations: readonly (readonly [what: string, found: number, expected: number])[] = [
    ['turns that are done', turns, turnCount],
    ['calls that the client left', left, planned('left')],
    ['rows of the ledger that say so', aborted, planned('left')],
    ['calls that were refused as too long', refused, planned('too-long')],
    ['calls that were answered otherwise', calls.length - well - left - refused, 0],
    ['protocol warnings', warnings.length, 0],
    // Each errand is one call for its tool and one for its end.
    ['calls of subagents', counts.errands, 2 * plannedErrands()],
    ['summaries', counts.summaries, planned('compact') + planned('too-long')],
  ]
  const wrong = expectations.filter(([, found, expected]) => found !== expected)
  const odd = calls.filter(({ isLeft, status, fault }) => !isLeft && (fault !== null || ![200, 400].includes(status)))
  return {
    figures: {
      turns,
      processes,
      calls: calls.length,
      'answered 200': well,
      'refused as too long': refused,
      'left by the client': left,
      'of subagents': counts.errands,
      'for summaries': counts.summaries,
      'lines of debug log': debugLines,
      'protocol warnings': warnings.length,
      seconds: seconds.toFixed(1),
    },
    faults: [
      ...evidence.faults,
      ...wrong.map(([what, found, expected]) => `${what}: ${found} instead of ${expected}`),
      ...odd.map(({ request, status, fault }) => `${request} was answered ${status} ${fault ?? ''}`),
      ...warnings,
    ],
  }
}

function plannedErrands(): number {
  return sessionPlan.filter((step) => step.kind === 'turn' && step.work === 'errand').length
}
