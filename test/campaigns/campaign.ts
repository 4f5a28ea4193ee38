import { messageOf } from '../../src/lib/message-of.ts'

export type CampaignOptions = {
  readonly seed: number
  readonly count: number
  /** SQLite unless it says otherwise; only the campaign that is about the ledger asks. */
  readonly database?: 'sqlite' | 'postgres'
  /** A file of weights in place of the campaign's own; only those that are about the engine ask. */
  readonly weights?: string
  /** An engine that runs already, in place of the campaign's own; only those that are about pools ask. */
  readonly replica?: { readonly kind: string; readonly url: string }
  /** Progress for whoever watches. */
  log(line: string): void
}

export type CampaignResult = {
  /** What was counted and measured, in the order of the summary. */
  readonly figures: Readonly<Record<string, string | number>>
  /** The first failures in full. */
  readonly failures: readonly string[]
  readonly failureCount: number
}

/** A broken rule repeats itself thousands of times; a few cases of each say what there is to say. */
const keptPerKindMost = 3
const kindsMax = 20

export class Failures {
  /** Is told each failure that is kept when it is found: a campaign that is ended before its end has told them then. */
  static told: (failure: string) => void = () => {}
  readonly #keptPerKind: number
  readonly #kept = new Map<string, string[]>()
  #count = 0

  constructor(keptPerKind = keptPerKindMost) {
    this.#keptPerKind = keptPerKind
  }

  /** Failures of the same kind are told apart by their labels. */
  add(kind: string, label = ''): void {
    this.#count += 1
    const kept = this.#kept.get(kind) ?? []
    if (kept.length === 0 && this.#kept.size === kindsMax) return
    if (kept.length === this.#keptPerKind) return
    const failure = label === '' ? kind : `${label}: ${kind}`
    this.#kept.set(kind, [...kept, failure])
    Failures.told(failure)
  }

  /** Runs a check that throws at the first broken rule; whether it passed. */
  check(label: string, rule: () => void): boolean {
    try {
      rule()
      return true
    } catch (error) {
      // An assertion's own picture of the difference takes many lines.
      const [first, ...rest] = messageOf(error).split('\n')
      const difference = rest.filter((line) => /^[+-] (?!actual)/.test(line)).join(' ')
      this.add(`${first} ${difference}`.trim().slice(0, 400), label)
      return false
    }
  }

  get count(): number {
    return this.#count
  }

  toResult(figures: CampaignResult['figures']): CampaignResult {
    return { figures, failures: [...this.#kept.values()].flat(), failureCount: this.#count }
  }
}

/** Runs cases 0 to `count` - 1, so many at a time. */
export async function runCases(
  count: number,
  atOnce: number,
  runCase: (caseNumber: number) => Promise<void>,
): Promise<void> {
  let started = 0
  const work = async () => {
    while (started < count) await runCase(started++)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, work))
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The value below which the given share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** `200 ×12, 400 ×3`, the most frequent first. */
export function describeCounts(counts: ReadonlyMap<unknown, number>): string {
  const sorted = [...counts].toSorted(([, left], [, right]) => right - left)
  return sorted.map(([key, count]) => `${String(key)} ×${count}`).join(', ')
}

export function printTable(rows: Readonly<Record<string, string | number>>): void {
  const width = Math.max(...Object.keys(rows).map((label) => label.length))
  console.log()
  for (const [label, value] of Object.entries(rows)) console.log(`  ${label.padEnd(width)}  ${value}`)
  console.log()
}
