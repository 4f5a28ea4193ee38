import { sendOpenLoop } from './load.ts'
import type { Options } from './options.ts'
import { leadInMs, percentile, read, type Reading } from './reading.ts'
import { eventShapes, listShapes, type ShapeOptions } from './shapes.ts'
import { latencyTable, useTable } from './table.ts'
import type { Target } from './targets/target.ts'

/** The time a run may take where no option says how long it lasts. */
const wholeRunMs = 240_000
/** For starting everything and for the last answers of each reading. */
const startMs = 20_000
const lastAnswersMs = 300
const warmUpPerSecond = 200

export type MeasureOptions = Pick<Options, keyof ShapeOptions | 'seconds' | 'warmUpSeconds' | 'pace'>

/** Asks all targets in turn, and prints the tables. */
export async function measure(targets: readonly Target[], options: MeasureOptions): Promise<void> {
  const shapes = listShapes(options)
  const readingsEach = shapes.length + 1
  const seconds = options.seconds ?? secondsThatFit(options, readingsEach * targets.length, targets.length)
  const { firstTokenMs, tokensPerSecond } = options.pace
  console.log(`the mock: first token after ${firstTokenMs} ms, then ${tokensPerSecond} tokens a second`)
  console.log(`${options.warmUpSeconds} s to warm each up, then ${seconds} s for each reading\n`)
  const sent = new Map<Target, number>()
  for (const target of targets) sent.set(target, await warmUp(target, options))
  const readings: Reading[] = []
  const [, longer] = eventShapes(options)
  for (const [round, shape] of [...shapes, longer].entries()) {
    for (let turn = 0; turn < targets.length; turn++) {
      // Each round begins with another one, so that none always comes after the same.
      const target = targets[(round + turn) % targets.length]!
      const reading = await read(target, shape, seconds)
      sent.set(target, (sent.get(target) ?? 0) + reading.sent)
      tell(reading)
      readings.push(reading)
    }
  }
  console.log(`${latencyTable(readings.filter(({ shape }) => shapes.includes(shape)))}\n`)
  console.log(`Times in milliseconds.\n\n${useTable(readings, options)}\n`)
  for (const [target, count] of sent) {
    const line = await target.report(count)
    if (line !== null) console.log(line)
  }
}

function secondsThatFit({ warmUpSeconds }: MeasureOptions, readings: number, targets: number): number {
  const left = wholeRunMs - startMs - targets * warmUpSeconds * 1_000
  return Math.max(1, Math.floor((left / readings - leadInMs - lastAnswersMs) / 1_000))
}

/** All kinds of requests, until what runs them is compiled. */
async function warmUp(target: Target, options: MeasureOptions): Promise<number> {
  const shapes = listShapes({ ...options, rates: [warmUpPerSecond] })
  let sent = 0
  for (const shape of shapes) {
    sent += (await sendOpenLoop(target, shape, (options.warmUpSeconds * 1_000) / shapes.length)).length
  }
  return sent
}

function tell({ target, shape, firstMs, endMs, requests, failures }: Reading): void {
  const [first, end] = [firstMs, endMs].map((times) => percentile(times, 50).toFixed(2))
  const kind = `${shape.perSecond}/s, ${shape.promptBytes} B, ${shape.isStream ? 'streamed' : 'whole'}, ${shape.tokens} tokens`
  console.error(`${kind}, ${target}: first ${first}, end ${end} ms; ${failures} of ${requests} failed`)
}
