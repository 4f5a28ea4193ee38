import type { Clock } from './clock.ts'

/** Waits for work no longer than this. The work itself goes on, and what becomes of it then is nobody's business. */
export function inTime<Result>(clock: Clock, waitMs: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(Math.max(0, waitMs), () => reject(new Error(`No answer within ${waitMs} ms.`)))
    work.then(resolve, reject).finally(cancel)
  })
}
