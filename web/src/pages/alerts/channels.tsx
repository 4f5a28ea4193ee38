import { useEffect, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import { DeliveryState } from '../../app/delivery-state.tsx'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { SecretDialog } from '../../app/secret-dialog.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { Code, Name, Time } from '../../kit/content.tsx'
import { Menu } from '../../kit/layers.tsx'
import { Banner, Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { Secret } from '../../lib/secret.ts'
import { ChannelDrawer } from './channel-drawer.tsx'
import { channelsQuery, wordsOfTopic, type Channel } from './channel-queries.ts'

type Open =
  | { readonly kind: 'drawer'; readonly channel: Channel | null }
  | { readonly kind: 'remove'; readonly channel: Channel }

/** A test message that was sent, and what the channel said of itself before. */
type Waiting = { readonly before: Channel; readonly until: number }

/** So long an answer to a test message is waited for: the receiver has ten seconds, and it is tried again once. */
const waitMs = 20_000

/** Where the organization's alerts go, and whether they arrive. */
export function Channels({ organizationId }: { readonly organizationId: string }) {
  const [waiting, setWaiting] = useState<Waiting | null>(null)
  const [open, setOpen] = useState<Open | null>(null)
  const [made, setMade] = useState<Secret | null>(null)
  const query = useQuery(channelsQuery(organizationId, waiting !== null))
  const reason = useReason(organizationId, 'alert-channels:update')
  const tested = waiting === null ? undefined : query.data?.find(({ id }) => id === waiting.before.id)
  useEffect(() => {
    if (waiting === null) return
    if (tested !== undefined && hasAnswered(waiting.before, tested)) return setWaiting(null)
    const timer = setTimeout(() => setWaiting(null), waiting.until - Date.now())
    return () => clearTimeout(timer)
  }, [waiting, tested])
  const touches = [['alert-channels', organizationId]]
  const test = useChange((channel: Channel) => sendTest(organizationId, channel), {
    touches,
    onDone: (before) => setWaiting({ before, until: Date.now() + waitMs }),
  })
  const enable = useChange((channel: Channel) => switchChannel(organizationId, channel), { touches })
  const remove = useChange(({ id: channelId }: Channel) => removeChannel(organizationId, channelId), {
    touches,
    onDone: () => setOpen(null),
  })
  const add = (
    <Button isSmall icon="plus" reason={reason} onClick={() => setOpen({ kind: 'drawer', channel: null })}>
      Add channel
    </Button>
  )
  return (
    <Card title="Channels" isFlush actions={add}>
      <ChangeProblem problem={test.problem ?? enable.problem} />
      <Loaded query={query} what="The channels" rows={2}>
        {(channels) =>
          channels.length === 0 ? (
            <p style={{ padding: '4px 16px 16px' }}>
              Alerts stand on this page and go nowhere else. A channel sends them to a webhook or into the service’s
              log.
            </p>
          ) : (
            <ChannelTable
              channels={channels}
              reason={reason}
              waitingId={waiting?.before.id ?? null}
              onTest={(channel) => void test.run(channel)}
              onSwitch={(channel) => void enable.run(channel)}
              onOpen={setOpen}
            />
          )
        }
      </Loaded>
      {open?.kind === 'drawer' && (
        <ChannelDrawer
          organizationId={organizationId}
          channel={open.channel}
          onClose={() => setOpen(null)}
          onMade={(secret) => {
            setOpen(null)
            if (secret !== null) setMade(new Secret(secret))
          }}
        />
      )}
      {open?.kind === 'remove' && (
        <Confirm
          title={`Remove “${open.channel.name}”`}
          verb="Remove channel"
          change={remove}
          onClose={() => setOpen(null)}
          onConfirm={() => void remove.run(open.channel)}
        >
          Nothing is sent to {open.channel.target} any more, also not what waits for it. Alerts go on standing here.
        </Confirm>
      )}
      {made !== null && <SecretOnce made={made} onClose={() => setMade(null)} />}
    </Card>
  )
}

function hasAnswered(before: Channel, after: Channel): boolean {
  return after.lastDeliveredAt !== before.lastDeliveredAt || after.failures !== before.failures
}

async function sendTest(organizationId: string, channel: Channel): Promise<Channel> {
  const params = { organizationId, channelId: channel.id }
  await api('POST /api/v1/organizations/{organizationId}/alert-channels/{channelId}/test', { params })
  return channel
}

function switchChannel(organizationId: string, { id: channelId, disabledAt }: Channel) {
  return api('PATCH /api/v1/organizations/{organizationId}/alert-channels/{channelId}', {
    params: { organizationId, channelId },
    body: { isEnabled: disabledAt !== null },
  })
}

function removeChannel(organizationId: string, channelId: string) {
  return api('DELETE /api/v1/organizations/{organizationId}/alert-channels/{channelId}', {
    params: { organizationId, channelId },
  })
}

type TableProps = {
  readonly channels: readonly Channel[]
  readonly reason: string | null
  readonly waitingId: string | null
  readonly onTest: (channel: Channel) => void
  readonly onSwitch: (channel: Channel) => void
  readonly onOpen: (open: Open) => void
}

function ChannelTable({ channels, reason, waitingId, onTest, onSwitch, onOpen }: TableProps) {
  const columns: readonly Column<Channel>[] = [
    { key: 'name', head: 'Name', cell: ({ name }) => <Name>{name}</Name> },
    { key: 'target', head: 'Goes to', cell: ({ target }) => target },
    {
      key: 'topics',
      head: 'Told of',
      phone: 'off',
      cell: ({ topics }) => topics.map((topic) => wordsOfTopic(topic)).join(' · '),
    },
    {
      key: 'state',
      head: 'State',
      phone: 'side',
      cell: (channel) => (
        <DeliveryState receiver={channel} sent={['event', 'events']} isWaiting={channel.id === waitingId} />
      ),
    },
    {
      key: 'delivered',
      head: 'Last delivered',
      cell: ({ lastDeliveredAt }) => (lastDeliveredAt === null ? 'Never' : <Time at={lastDeliveredAt} isAgo />),
    },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (channel) => (
        <Menu
          name={`Actions for ${channel.name}`}
          trigger={<IconButton icon="more" name="Actions" isSmall />}
          entries={[
            {
              kind: 'action',
              label: 'Send a test',
              reason: reason ?? disabledReason(channel),
              act: () => onTest(channel),
            },
            { kind: 'action', label: 'Edit…', reason, act: () => onOpen({ kind: 'drawer', channel }) },
            {
              kind: 'action',
              label: channel.disabledAt === null ? 'Disable' : 'Enable',
              reason,
              act: () => onSwitch(channel),
            },
            { kind: 'action', label: 'Remove…', isBad: true, reason, act: () => onOpen({ kind: 'remove', channel }) },
          ]}
        />
      ),
    },
  ]
  return <Table name="Channels" columns={columns} items={channels} keyOf={({ id }) => id} />
}

function disabledReason({ disabledAt }: Channel): string | null {
  return disabledAt === null ? null : 'Nothing is sent over a channel that is disabled.'
}

function SecretOnce({ made, onClose }: { readonly made: Secret; readonly onClose: () => void }) {
  return (
    <SecretDialog title="The channel is ready" secret={made} onClose={onClose}>
      {(secret) => (
        <>
          <Banner kind="warn">This is the only time its secret is shown.</Banner>
          <p>The receiver checks with it that a message comes from here, as Standard Webhooks have it.</p>
          <Code label="Signing secret" wraps text={secret} />
        </>
      )}
    </SecretDialog>
  )
}
