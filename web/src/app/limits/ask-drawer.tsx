import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Button } from '../../kit/button.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Banner } from '../../kit/page.tsx'
import { ChangeProblem } from '../change-problem.tsx'
import { organizationQuery } from '../queries.ts'
import { useReason } from '../session.ts'
import { useChange } from '../use-change.ts'
import { AskingFields, useAsking, type Asking } from './asking.tsx'

type Props = {
  readonly organizationId: string
  readonly apiKeyId: string
  readonly onClose: () => void
}

/** Asks whoever sets limits for higher ones of a key. */
export function AskDrawer({ organizationId, apiKeyId, onClose }: Props) {
  const { fields, set, missing, body } = useAsking()
  const change = useChange(
    (asked: Asking, options) =>
      api(
        'POST /api/v1/organizations/{organizationId}/api-keys/{apiKeyId}/limit-requests',
        { params: { organizationId, apiKeyId }, body: asked },
        options,
      ),
    { touches: [['limit-requests', organizationId]], onDone: onClose },
  )
  const mayRead = useReason(organizationId, 'organizations:read') === null
  const contact = useQuery({ ...organizationQuery(organizationId), enabled: mayRead }).data?.contact ?? null
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={missing}>
      Ask
    </Button>
  )
  return (
    <Drawer
      title="Ask for higher limits"
      said="Owners and admins see it on their page of limits. Nothing changes until one of them approves it."
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (missing === null ? void change.run(body()) : undefined)}
    >
      <ChangeProblem problem={change.problem} />
      {contact !== null && <Banner kind="info">{`Or ask ${contact}.`}</Banner>}
      <AskingFields fields={fields} set={set} hasContact={false} />
    </Drawer>
  )
}
