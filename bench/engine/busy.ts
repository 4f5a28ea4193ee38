import { cpus } from 'node:os'
import { setTimeout } from 'node:timers/promises'

/** Long enough for programs that work now and then to show. */
const watchMs = 2_000

/** Waits until the machine uses at most this percentage of its processors; 100 allows any use. */
export async function untilIdle(percentMax: number): Promise<void> {
  while (percentMax < 100 && (await busyPercent()) > percentMax);
}

/** How much of its processors the machine uses while nothing is measured. */
export async function busyPercent(): Promise<number> {
  const before = countTimes()
  await setTimeout(watchMs)
  const after = countTimes()
  return Math.round((100 * (after.busy - before.busy)) / Math.max(1, after.all - before.all))
}

function countTimes(): { readonly busy: number; readonly all: number } {
  let [busy, all] = [0, 0]
  for (const { times } of cpus()) {
    const sum = Object.values(times).reduce((total, time) => total + time, 0)
    all += sum
    busy += sum - times.idle
  }
  return { busy, all }
}
