import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Confirm } from '../../app/confirm.tsx'
import { useKeyReasons } from '../../app/keys/use-key-reasons.ts'
import type { ApiKey } from '../../app/queries.ts'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Row } from '../../kit/page.tsx'
import { formatCounted } from '../../format/figures.ts'

const verbs = { disable: 'Disable', revoke: 'Revoke' } as const
type Verb = keyof typeof verbs

type Props = {
  readonly organizationId: string
  /** Those that are chosen and not over yet. */
  readonly keys: readonly ApiKey[]
  readonly onDone: () => void
}

/** What is done to several keys at once; each of them is a change of its own, and stands in the audit as one. */
export function BulkActions({ organizationId, keys, onDone }: Props) {
  const [asked, setAsked] = useState<Asked | null>(null)
  const reasonOf = useKeyReasons(organizationId)
  const none = keys.length === 0 ? 'Choose keys first.' : null
  /** That of the first which somebody may not do it to: then it is done to none. */
  const reasonOfAll = (verb: Verb) =>
    none ?? keys.map((key) => reasonOf(verb, key)).find((reason) => reason !== null) ?? null
  return (
    <Row>
      <span role="status">{formatCounted(keys.length, 'key')} chosen</span>
      <Button isSmall reason={reasonOfAll('disable')} onClick={() => setAsked({ verb: 'disable', keys })}>
        Disable…
      </Button>
      <Button isSmall look="danger" reason={reasonOfAll('revoke')} onClick={() => setAsked({ verb: 'revoke', keys })}>
        Revoke…
      </Button>
      <Button isSmall look="quiet" onClick={onDone}>
        Leave
      </Button>
      {asked !== null && (
        <Ask organizationId={organizationId} {...asked} onClose={() => setAsked(null)} onDone={onDone} />
      )}
    </Row>
  )
}

/** The keys as they were chosen: those that are done with leave the list behind the question, and count all the same. */
type Asked = { readonly verb: Verb; readonly keys: readonly ApiKey[] }
type AskProps = Props & Asked & { readonly onClose: () => void }

function Ask({ organizationId, keys, verb, onClose, onDone }: AskProps) {
  const [done, setDone] = useState(0)
  const change = useChange(
    async (_: null) => {
      // One after the other: what was done stays done where one of them is refused.
      for (const { id } of keys.slice(done)) {
        await api(`POST /api/v1/organizations/{organizationId}/api-keys/{apiKeyId}/${verb}`, {
          params: { organizationId, apiKeyId: id },
        })
        setDone((before) => before + 1)
      }
    },
    { touches: [['keys', organizationId]], onDone },
  )
  const count = String(keys.length)
  return (
    <Confirm
      title={`${verbs[verb]} ${keys.length} keys`}
      verb={`${verbs[verb]} ${keys.length} keys`}
      {...(verb === 'revoke' && { typedName: count })}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {keys.map(({ name }) => name).join(', ')}.{' '}
      {verb === 'revoke'
        ? 'Requests with them are refused at once. Running answers end within half a second. This cannot be undone.'
        : 'Requests with them are refused until they are enabled again.'}
      {done > 0 && ` ${done} of ${keys.length} done.`}
    </Confirm>
  )
}
