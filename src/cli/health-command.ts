import { z } from 'zod'
import { loadConfig } from '../config/load.ts'
import { messageOf } from '../lib/message-of.ts'
import { readServiceFile } from '../service/status/service-file.ts'
import { askService, type ServiceAnswer } from './ask-service.ts'
import { parseArguments } from './parse-arguments.ts'

/** Nothing of the answer comes from a disk or a database; container managers give a check up after some seconds more. */
const answerMsMax = 5_000

const readiness = z.object({
  status: z.string(),
  models: z.record(z.string(), z.string()),
  keys: z.string(),
  ledger: z.string(),
})

/** Asks the service of this data folder whether it can answer, for container managers; the exit code is 1 where it cannot. */
export async function healthCommand(args: string[]): Promise<void> {
  const { values } = parseArguments({ args, options: { alive: { type: 'boolean' } } })
  const { home } = loadConfig()
  const file = readServiceFile(home)
  if (file === null) throw new Error(`No service runs on ${home}.`)
  const { status, body } = await ask(`${reachable(file.address)}${values.alive === true ? '/healthz' : '/readyz'}`)
  if (status >= 200 && status < 300) return console.log(values.alive === true ? 'alive' : 'ready')
  throw new Error(describe(readiness.safeParse(body).data ?? null, status))
}

async function ask(address: string): Promise<ServiceAnswer> {
  try {
    return await askService(address, { msMax: answerMsMax })
  } catch (error) {
    throw new Error(`The service does not answer: ${messageOf(error)}.`, { cause: error })
  }
}

/** A service that listens everywhere is asked on loopback, which some systems do not take the other address for. */
function reachable(address: string): string {
  const url = new URL(address)
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return url.origin
}

/** Names what is not ready, as the service itself gives no reason. */
function describe(answer: z.output<typeof readiness> | null, status: number): string {
  if (answer === null) return `The service answered ${status}.`
  const { models, keys, ledger } = answer
  const parts = Object.entries({ ...models, keys, ledger }).filter(
    ([, state]) => state !== 'ready' && state !== 'asleep',
  )
  return [`The service is ${answer.status}`, ...parts.map(([part, state]) => `${part} is ${state}`)].join('; ')
}
