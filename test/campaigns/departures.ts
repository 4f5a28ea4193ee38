import type { Service } from '../harness/start-service.ts'
import { pause } from './campaign.ts'
import type { PlainRequest } from './plain-requests.ts'
import type { Random } from './random.ts'
import { authorize, RawConnection, toBytes, type Leaving } from './raw-http.ts'
import type { RawResponse } from './response-reader.ts'

/** When and how a client leaves. */
export type Departure = {
  readonly moment: 'within the body' | 'after the body' | 'while waiting' | 'within the answer' | 'after the end'
  readonly how: Leaving
  /** The share of the body that is sent. */
  readonly bodyShare: number
  readonly waitMs: number
  /** Bytes of the answer that are read before leaving. */
  readonly answerBytes: number
}

export type Departed = {
  readonly label: string
  readonly departure: Departure
  readonly sent: PlainRequest
  /** The request as it was before the choice of streaming. */
  readonly request: PlainRequest
  readonly response: RawResponse
  /** Null when the client left before the head of the answer. */
  readonly requestId: string | null
  /** Whether the service must have a row for it, may have one, or must not. */
  readonly admission: 'certain' | 'possible' | 'none'
}

/** A client that has waited this long after its request was surely let in, however busy the machine is. */
const surelyAdmittedMs = 1_000

export function planDeparture(
  random: Random,
  { promptWords, streamBytes }: { readonly promptWords: number; readonly streamBytes: number },
): Departure {
  const isLong = promptWords > 500
  const moments: readonly Departure['moment'][] = isLong
    ? ['within the body', 'after the body', 'while waiting', 'while waiting', 'within the answer', 'after the end']
    : ['within the body', 'after the body', 'while waiting', 'within the answer', 'within the answer', 'after the end']
  return {
    moment: random.pick(moments),
    how: random.pick(['fin', 'rst']),
    bodyShare: random.next(),
    waitMs: random.integer(0, isLong ? 2_500 : 30),
    answerBytes: random.integer(1, streamBytes),
  }
}

type Visit = { readonly caseNumber: number; readonly sent: PlainRequest; readonly request: PlainRequest }

/** Plays a client up to its departure. */
export async function playDeparture(service: Service, visit: Visit, departure: Departure): Promise<Departed> {
  const { sent, request, caseNumber } = visit
  const { moment, how } = departure
  const bytes = toBytes({ path: sent.path, headers: authorize(service.key), body: JSON.stringify(sent.body) })
  const connection = new RawConnection(service.address)
  let waitedMs = 0
  if (moment === 'within the body') {
    const bodyStart = bytes.indexOf('\r\n\r\n') + 4
    const bodyEnd = bodyStart + Math.floor((bytes.length - bodyStart) * departure.bodyShare)
    await connection.send(bytes.subarray(0, Math.min(bodyEnd, bytes.length - 1)))
    await pause(departure.waitMs % 30)
  } else {
    await connection.send(bytes)
    const startedMs = performance.now()
    await follow(connection, departure)
    waitedMs = performance.now() - startedMs
  }
  connection.leave(how)
  const { response } = connection
  const requestId = response.headers.get('x-request-id') ?? null
  const mode = sent.body['stream'] === true ? 'streamed' : 'whole'
  return {
    label: `case ${caseNumber} (${sent.shape}, ${mode}, ${moment}, ${how}, ${requestId})`,
    departure,
    sent,
    request,
    response,
    requestId,
    admission: admissionOf(moment, requestId !== null || waitedMs > surelyAdmittedMs),
  }
}

async function follow(connection: RawConnection, { moment, waitMs, answerBytes }: Departure): Promise<void> {
  switch (moment) {
    case 'while waiting':
      return pause(waitMs)
    case 'within the answer':
      await connection.until(({ bytes, isComplete }) => isComplete || bytes >= answerBytes)
      return
    case 'after the end':
      await connection.until(({ isComplete }) => isComplete)
      return
    case 'within the body':
    case 'after the body':
      return
  }
}

function admissionOf(moment: Departure['moment'], isSure: boolean): Departed['admission'] {
  if (moment === 'within the body') return 'none'
  return isSure ? 'certain' : 'possible'
}
