import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { silencesQuery, topicChoices, wordsOfTopic, type Silence, type Topic } from './channel-queries.ts'

/** Times in which nothing is sent: what happens then is not sent afterwards either, and stands on this page all the same. */
export function Silences({ organizationId }: { readonly organizationId: string }) {
  const query = useQuery(silencesQuery(organizationId))
  const reason = useReason(organizationId, 'alert-channels:update')
  const [isOpen, setOpen] = useState(false)
  const end = useChange(
    (silenceId: string) =>
      api('DELETE /api/v1/organizations/{organizationId}/alert-silences/{silenceId}', {
        params: { organizationId, silenceId },
      }),
    { touches: [['alert-silences', organizationId]] },
  )
  const columns: readonly Column<Silence>[] = [
    { key: 'topic', head: 'Not told of', cell: ({ topic }) => wordsOfTopic(topic) },
    { key: 'reason', head: 'Reason', cell: ({ reason: why }) => <Name>{why}</Name> },
    { key: 'from', head: 'From', phone: 'off', cell: ({ from }) => <Time at={from} /> },
    { key: 'until', head: 'Until', cell: ({ until }) => <Time at={until} /> },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: ({ id }) => (
        <Button isSmall reason={reason} isBusy={end.isBusy} onClick={() => void end.run(id)}>
          End now
        </Button>
      ),
    },
  ]
  const add = (
    <Button isSmall reason={reason} onClick={() => setOpen(true)}>
      Silence…
    </Button>
  )
  return (
    <Card title="Silences" isFlush actions={add}>
      <ChangeProblem problem={end.problem} />
      <Loaded query={query} what="The silences" rows={1}>
        {(silences) =>
          silences.length === 0 ? (
            <p style={{ padding: '4px 16px 16px' }}>Everything that happens is sent.</p>
          ) : (
            <Table name="Silences" columns={columns} items={silences} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
      {isOpen && <SilenceDrawer organizationId={organizationId} onClose={() => setOpen(false)} />}
    </Card>
  )
}

const hourMs = 60 * 60 * 1_000
const lengths = [
  { value: '1', label: '1 hour' },
  { value: '8', label: '8 hours' },
  { value: '24', label: '1 day' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
] as const
type Hours = (typeof lengths)[number]['value']

function SilenceDrawer({ organizationId, onClose }: { readonly organizationId: string; readonly onClose: () => void }) {
  const [topic, setTopic] = useState<Topic | 'all'>('all')
  const [hours, setHours] = useState<Hours>('8')
  const [why, setWhy] = useState('')
  const change = useChange(
    (body: BodyOf<'POST /api/v1/organizations/{organizationId}/alert-silences'>, options) =>
      api('POST /api/v1/organizations/{organizationId}/alert-silences', { params: { organizationId }, body }, options),
    { touches: [['alert-silences', organizationId]], onDone: onClose },
  )
  const reason = why.trim() === '' ? 'A reason is needed: somebody else will read it.' : null
  const silence = () => {
    if (reason !== null) return
    // A moment less: the service counts the length from when it reads this.
    const until = new Date(Date.now() + Number(hours) * hourMs - 1_000).toISOString()
    void change.run({ topic: topic === 'all' ? null : topic, until, reason: why.trim() })
  }
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Silence
    </Button>
  )
  return (
    <Drawer
      title="Silence"
      isOpen
      onClose={onClose}
      onSubmit={silence}
      foot={foot}
      said="What happens in this time is not sent, also not afterwards. It stands on this page all the same."
    >
      <ChangeProblem problem={change.problem} shown={['reason', 'until']} />
      <Select
        label="Not told of"
        value={topic}
        choices={[{ value: 'all', label: 'Everything' }, ...topicChoices('webhook')]}
        onChoice={setTopic}
      />
      <Select label="For" value={hours} choices={lengths} onChoice={setHours} fault={change.faultOf('until')} />
      <TextField
        label="Reason"
        autoComplete="off"
        placeholder="Known, being raised"
        value={why}
        fault={change.faultOf('reason')}
        onText={setWhy}
      />
    </Drawer>
  )
}
