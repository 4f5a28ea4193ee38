import type { ReactNode } from 'react'
import { StateTag } from '../kit/page.tsx'

/** What is known of a receiver, be it of alerts or of the audit. */
export type Receiver = {
  readonly disabledAt: string | null
  readonly failures: number
  readonly lastError: string | null
  readonly lastDeliveredAt: string | null
  readonly givenUp: number
  readonly lastGivenUp: string | null
}

type Props = {
  readonly receiver: Receiver
  /** What it is sent, as one and as several. */
  readonly sent: readonly [string, string]
  readonly isWaiting?: boolean
}

/** Whether what is sent to a receiver arrives, and what it will never be given. */
export function DeliveryState({ receiver, sent: [one, several], isWaiting = false }: Props) {
  const { givenUp, lastGivenUp } = receiver
  return (
    <>
      {isWaiting ? <StateTag mood="info">Sending…</StateTag> : <Delivery receiver={receiver} />}
      {givenUp > 0 && (
        <Remark>
          {givenUp === 1 ? `One ${one} was` : `${givenUp} ${several} were`} too large for the receiver and given up
          {lastGivenUp !== null && `, last ${lastGivenUp}`}.
        </Remark>
      )}
    </>
  )
}

function Delivery({ receiver: { disabledAt, failures, lastError, lastDeliveredAt } }: Pick<Props, 'receiver'>) {
  if (disabledAt !== null) return <StateTag mood="off">Disabled</StateTag>
  if (failures > 0) {
    return (
      <>
        <StateTag mood="bad">{failures === 1 ? 'Failed once' : `Failed ${failures} times`}</StateTag>
        {lastError !== null && <Remark>{lastError}</Remark>}
      </>
    )
  }
  return lastDeliveredAt === null ? (
    <StateTag mood="off">Nothing sent yet</StateTag>
  ) : (
    <StateTag mood="good">Arrives</StateTag>
  )
}

function Remark({ children }: { readonly children: ReactNode }) {
  return <small style={{ display: 'block', color: 'var(--text-2)' }}>{children}</small>
}
