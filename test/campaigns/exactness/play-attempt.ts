import type { Service } from '../../harness/start-service.ts'
import { isStream } from '../answers.ts'
import { pause } from '../campaign.ts'
import type { Random } from '../random.ts'
import { authorize, RawConnection, toBytes } from '../raw-http.ts'
import { readUsage, type ReportedUsage } from '../reported-usage.ts'
import type { RawResponse } from '../response-reader.ts'
import type { Body } from './repeated-bodies.ts'

/** One request as its client saw it. */
export type Attempt = {
  readonly body: Body
  /** How often the client had sent the body before. */
  readonly number: number
  /** Which life of the service it was sent to. */
  readonly instance: number
  /** What the client calls it, by which its row is found where it never saw the service's own name for it. */
  readonly name: string
  /**
   * `whole`: read to its last byte. `left`: the client went. `refused`: an error with a status, read whole. `cut`: it
   * broke off, or said that it did. `nothing`: not a byte of it came.
   */
  readonly end: 'whole' | 'left' | 'refused' | 'cut' | 'nothing'
  readonly told: ReportedUsage | null
  /** Of what was kept, the part for an hour; null where the format does not tell. */
  readonly toldLong: number | null
}

type Playing = { readonly random: Random; readonly number: number; readonly instance: number }

export async function playAttempt(service: Service, body: Body, playing: Playing): Promise<Attempt> {
  const { random, number, instance } = playing
  const name = `${body.number}-${number}-${instance}`
  const connection = new RawConnection(service.address)
  const headers = [
    ...authorize(service.key),
    ['x-client-request-id', name],
    ...(number > 0 ? [['x-stainless-retry-count', String(number)]] : []),
  ] as [string, string][]
  void connection.send(toBytes({ path: body.request.path, headers, body: body.text }))
  const hasLeft = random.chance(0.25) && (await leaveEarly(connection, random))
  if (!hasLeft) await connection.until(({ isComplete }) => isComplete, 120_000)
  const { response } = connection
  connection.leave('fin')
  const end = endOf(response, hasLeft)
  const isTold = end === 'whole'
  return {
    body,
    number,
    instance,
    name,
    end,
    told: isTold ? readUsage(response, body.request.shape) : null,
    toldLong: isTold ? readLong(response) : null,
  }
}

/** Goes after some of the answer, or after a while; whether it was not over by then. */
async function leaveEarly(connection: RawConnection, random: Random): Promise<boolean> {
  if (random.chance(0.3)) await pause(random.integer(0, 60))
  else {
    const enough = random.integer(1, 4_000)
    await connection.until(({ bytes, isComplete }) => isComplete || bytes >= enough, 120_000)
  }
  if (connection.isClosed || connection.response.isComplete) return false
  connection.leave(random.pick(['fin', 'rst']))
  return true
}

function endOf(response: RawResponse, hasLeft: boolean): Attempt['end'] {
  if (hasLeft) return 'left'
  if (response.status === null) return response.bytes === 0 ? 'nothing' : 'cut'
  if (!response.isComplete) return 'cut'
  if (response.status !== 200) return 'refused'
  const isBrokenOff = isStream(response) && /event: error|"error":\{/.test(response.text)
  return isBrokenOff ? 'cut' : 'whole'
}

function readLong({ text }: RawResponse): number | null {
  const found = [...text.matchAll(/"ephemeral_1h_input_tokens":(\d+)/g)].at(-1)?.[1]
  return found === undefined ? null : Number(found)
}
