import { pagePath, type PageName } from '../../app/paths.ts'
import { preferences, usePreferences } from '../../app/preferences.ts'
import { reasonOf, useSession } from '../../app/session.ts'
import { Button, LinkButton } from '../../kit/button.tsx'
import { Card, Row, StateTag } from '../../kit/page.tsx'
import type { Overview } from './overview.ts'

type Step = Overview['firstSteps'][number]['step']
/** Where each is done; a step of the installation is for who may do it there. */
const ways: Readonly<
  Record<Step, { readonly name: string; readonly page: PageName; readonly needs: string; readonly isOwn: boolean }>
> = {
  key: { name: 'Make a key', page: 'quickstart', needs: 'api-keys:create', isOwn: true },
  request: { name: 'Send a first request', page: 'quickstart', needs: 'organizations:read', isOwn: true },
  prices: { name: 'Set prices, if you charge', page: 'prices', needs: 'prices:update', isOwn: false },
  'second-owner': { name: 'Add a second owner', page: 'members', needs: 'members:create', isOwn: true },
}

type Props = { readonly organizationId: string; readonly steps: Overview['firstSteps'] }

/** What a new installation still lacks, each step by the service's own check; gone when all are done or it is put away. */
export function FirstSteps({ organizationId, steps }: Props) {
  const { dismissed } = usePreferences()
  const session = useSession()
  const name = `first-steps ${organizationId}`
  if (session === null || dismissed.includes(name)) return null
  const own = steps.filter(({ step }) => {
    const { needs, isOwn } = ways[step]
    return reasonOf(session, isOwn ? organizationId : null, needs) === null
  })
  const done = own.filter(({ isDone }) => isDone).length
  if (done === own.length) return null
  return (
    <Card
      title={`First steps: ${done} of ${own.length}`}
      actions={
        <Button isSmall look="quiet" onClick={() => preferences.change({ dismissed: [...dismissed, name] })}>
          Hide
        </Button>
      }
    >
      <Row>
        {own.map(({ step, isDone }) =>
          isDone ? (
            <StateTag key={step} mood="good">
              {ways[step].name}
            </StateTag>
          ) : (
            <LinkButton key={step} isSmall href={pagePath(ways[step].page, { organizationId })}>
              {ways[step].name}
            </LinkButton>
          ),
        )}
      </Row>
    </Card>
  )
}
