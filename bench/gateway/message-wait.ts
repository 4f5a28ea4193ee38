import { fork } from 'node:child_process'
import { once } from 'node:events'
import { pin, type Cores } from './cores.ts'
import { measureWait, type Wait } from './wait.ts'

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
  const wait = await measureWait(() => {
    const answered = once(echo, 'message')
    echo.send('asked')
    return answered
  })
  echo.disconnect()
  return wait
}
