import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useReason } from '../../app/session.ts'
import { Form } from '../../app/sign-in-form.tsx'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Code, Time } from '../../kit/content.tsx'
import { TextField } from '../../kit/field.tsx'
import { Card, Row, Stack, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { domainsQuery } from './queries.ts'

type Domain = Schemas['Domain']
type Props = { readonly organizationId: string }

/** Which domains of e-mail addresses are the organization's own, and the records that show it. */
export function Domains({ organizationId }: Props) {
  const query = useQuery(domainsQuery(organizationId))
  return (
    <Card title="Domains">
      <Stack>
        <p>
          Somebody is recognised by an e-mail address only where its domain is verified. The TXT record has to stay: it
          is looked for once a day.
        </p>
        <Loaded query={query} what="The domains" rows={2}>
          {({ data }) =>
            data.length === 0 ? <p>No domain yet.</p> : <DomainTable domains={data} {...{ organizationId }} />
          }
        </Loaded>
        <AddDomain organizationId={organizationId} />
      </Stack>
    </Card>
  )
}

function DomainTable({ organizationId, domains }: Props & { readonly domains: readonly Domain[] }) {
  const columns: readonly Column<Domain>[] = [
    { key: 'name', head: 'Domain', cell: ({ name }) => name },
    {
      key: 'state',
      head: 'State',
      cell: (domain) => <State domain={domain} />,
    },
    {
      key: 'record',
      head: 'TXT record',
      cell: ({ record, ...domain }) =>
        needsRecord(domain) && (
          <Code label={`TXT record at ${record.name}`} wraps text={`${record.name} ${record.value}`} />
        ),
    },
    {
      key: 'actions',
      head: '',
      isRight: true,
      cell: (domain) => needsRecord(domain) && <Verify organizationId={organizationId} domain={domain} />,
    },
  ]
  return <Table name="Domains" columns={columns} items={domains} keyOf={({ id }) => id} />
}

function needsRecord({ verifiedAt, missingSince }: Pick<Domain, 'verifiedAt' | 'missingSince'>): boolean {
  return verifiedAt === null || missingSince !== null
}

function State({ domain: { verifiedAt, missingSince, lapsesAt } }: { readonly domain: Domain }) {
  if (missingSince === null || lapsesAt === null) {
    return verifiedAt === null ? <StateTag mood="warn">Waits</StateTag> : <StateTag mood="good">Verified</StateTag>
  }
  if (verifiedAt === null) {
    return (
      <>
        <StateTag mood="bad">Record gone</StateTag> since <Time at={missingSince} />: counts for nothing
      </>
    )
  }
  return (
    <>
      <StateTag mood="warn">Record gone</StateTag> counts until <Time at={lapsesAt} />
    </>
  )
}

function Verify({ organizationId, domain }: Props & { readonly domain: Domain }) {
  const reason = useReason(organizationId, 'connections:update')
  const params = { organizationId, domainId: domain.id }
  const change = useChange(
    (_: null, options) =>
      api('POST /api/v1/organizations/{organizationId}/domains/{domainId}/verify', { params }, options),
    { touches: [['domains', organizationId]] },
  )
  return (
    <Stack>
      <ChangeProblem problem={change.problem} />
      <Button isSmall isBusy={change.isBusy} reason={reason} onClick={() => void change.run(null)}>
        Look for the record
      </Button>
    </Stack>
  )
}

function AddDomain({ organizationId }: Props) {
  const [name, setName] = useState('')
  const reason = useReason(organizationId, 'connections:create')
  const change = useChange(
    (body: { readonly name: string }, options) =>
      api('POST /api/v1/organizations/{organizationId}/domains', { params: { organizationId }, body }, options),
    { touches: [['domains', organizationId]], onDone: () => setName('') },
  )
  const missing = reason ?? (name.trim() === '' ? 'A domain is needed.' : null)
  return (
    <Form onSend={() => (missing === null ? change.run({ name: name.trim() }) : undefined)}>
      <ChangeProblem problem={change.problem} shown={['name']} />
      <TextField
        label="Domain"
        autoComplete="off"
        placeholder="acme.example"
        value={name}
        fault={change.faultOf('name')}
        onText={setName}
      />
      <Row>
        <Button type="submit" isBusy={change.isBusy} reason={missing}>
          Add domain
        </Button>
      </Row>
    </Form>
  )
}
