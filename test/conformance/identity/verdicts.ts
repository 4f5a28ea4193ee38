import { messageOf } from '../../../src/lib/message-of.ts'

export type Verdict = { readonly of: string; readonly name: string; readonly fault: string | null }

/** What was tried with somebody's program, and how it went; each is told as soon as it is known. */
export class Verdicts {
  readonly all: Verdict[] = []

  /** Does a trial, which throws where it goes wrong. The next is done all the same. */
  async try(of: string, name: string, work: () => Promise<string | void>): Promise<void> {
    const startedMs = performance.now()
    const { figure, fault } = await work().then(
      (said) => ({ figure: said, fault: null }),
      (error: unknown) => ({ figure: undefined, fault: messageOf(error) }),
    )
    this.all.push({ of, name, fault })
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    const more = [figure, fault].filter((part) => part !== undefined && part !== null)
    // oxlint-disable-next-line no-console
    console.log(`${fault === null ? '✔' : '✖'} ${[`${of}: ${name} (${seconds} s)`, ...more].join(': ')}`)
  }

  get failed(): number {
    return this.all.filter(({ fault }) => fault !== null).length
  }
}
