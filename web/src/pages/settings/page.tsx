import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { NameField, useTypedName } from '../../app/name-drawer.tsx'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { organizationQuery } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { Form } from '../../app/sign-in-form.tsx'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Time } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { Banner, Card, KeyValue, Page as Frame, Row } from '../../kit/page.tsx'
import { AgentsCard } from './agents-card.tsx'
import { RecordingCard } from './recording-card.tsx'
import { RulesCard } from './rules-card.tsx'
import { TierCard } from './tier-card.tsx'

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const query = useQuery(organizationQuery(organizationId))
  const mayReadRules = useReason(organizationId, 'settings:read') === null
  return (
    <Frame title="Settings" isNarrow>
      <Loaded query={query} what="The settings">
        {(organization) => (
          <>
            <Card title="Organization">
              <NameForm organizationId={organizationId} name={organization.name} />
            </Card>
            <TierCard organizationId={organizationId} tier={organization.tier} />
            {mayReadRules && <RulesCard organizationId={organizationId} />}
            {mayReadRules && <AgentsCard organizationId={organizationId} />}
            <RecordingCard organizationId={organizationId} />
            <Card title="Single sign-on">
              <p>
                Members can sign in by the organization’s own provider, and a directory can make them and let them go:{' '}
                <Link href={pagePath('signIn', { organizationId })}>Sign-in and directory</Link>.
              </p>
            </Card>
            <Card title="About">
              <KeyValue
                rows={[
                  ['Id', <code key="id">{organization.id}</code>],
                  ['Created', <Time key="created" at={organization.createdAt} />],
                ]}
              />
            </Card>
          </>
        )}
      </Loaded>
    </Frame>
  )
}

function NameForm({ organizationId, name: known }: { readonly organizationId: string; readonly name: string }) {
  const { name, typed, onText, missing: unnamed } = useTypedName(known)
  const [isSaved, setSaved] = useState(false)
  const reason = useReason(organizationId, 'organizations:update')
  const change = useChange(
    (body: { readonly name: string }) =>
      api('PATCH /api/v1/organizations/{organizationId}', { params: { organizationId }, body }),
    {
      touches: [['organization', organizationId], ['session']],
      onDone: () => setSaved(true),
    },
  )
  const missing = reason ?? unnamed ?? (name === known ? 'Nothing was changed.' : null)
  const save = () => {
    setSaved(false)
    return missing === null ? change.run({ name }) : undefined
  }
  return (
    <Form onSend={save}>
      {isSaved && name === known && <Banner kind="good">Saved.</Banner>}
      <NameField typed={typed} onText={onText} change={change} />
      <Row>
        <Button type="submit" look="primary" isBusy={change.isBusy} reason={missing}>
          Save
        </Button>
      </Row>
    </Form>
  )
}
