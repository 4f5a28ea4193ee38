import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pin, type Cores } from './cores.ts'
import { toWait, type Wait } from './wait.ts'

const messages = 500
/** So far apart that each wakes both processes up. */
const pauseMs = 4

/**
 * What a message to a process on the gateway's core takes, and its answer back, when neither has anything else to do.
 *
 * Before its first text a request goes from the gateway to the engine's process and back twice: its prompt is
 * counted before its limits are looked at, and it begins after them.
 */
export async function measureMessageWait({ gateway }: Cores): Promise<Wait> {
  const echo = fork(new URL('./mock/echo.ts', import.meta.url), { serialization: 'advanced' })
  await once(echo, 'message')
  pin(echo.pid ?? 0, gateway)
  const times: number[] = []
  for (let message = 0; message < messages; message++) {
    const begun = performance.now()
    echo.send({ message })
    await once(echo, 'message')
    times.push(performance.now() - begun)
    await sleep(pauseMs)
  }
  echo.disconnect()
  return toWait(times)
}
