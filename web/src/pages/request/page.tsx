import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { pagePath, type PageParams } from '../../app/paths.ts'
import type { LedgerEntry } from '../../app/queries.ts'
import { Outcome } from '../../app/requests/outcome.tsx'
import { inputTokensOf } from '../../app/requests/request-table.tsx'
import { usePlace } from '../../app/router.tsx'
import { Loaded } from '../../app/states.tsx'
import { formatCount, formatCounted, formatDuration } from '../../format/figures.ts'
import { LinkButton } from '../../kit/button.tsx'
import { CopyButton } from '../../kit/copy-button.tsx'
import { Code, Name, Time } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { Badge, Banner, Card, Columns, Disclosure, KeyValue, Page as Frame, Row, Stack } from '../../kit/page.tsx'
import { ContentCard } from './content-card.tsx'
import { RequestNeighbours } from './request-neighbours.tsx'
import { PriceLines } from './price-lines.tsx'
import { Waterfall, type Span } from '../../charts/waterfall.tsx'

export function Page({ params }: { readonly params: PageParams }) {
  const { organizationId = '', requestId = '' } = params
  const { search } = usePlace()
  const query = useQuery({
    queryKey: ['request', requestId],
    queryFn: ({ signal }) => api('GET /api/v1/requests/{requestId}', { params: { requestId } }, { signal }),
  })
  const actions = (
    <>
      <RequestNeighbours organizationId={organizationId} requestId={requestId} search={search} />
      <CopyButton text={requestId} name="Copy id" isSmall={false} />
      <LinkButton href={pagePath('requests', { organizationId }) + search} icon="left">
        Requests
      </LinkButton>
    </>
  )
  return (
    <Frame title={<span style={{ fontFamily: 'var(--mono)', fontSize: '1rem' }}>{requestId}</span>} actions={actions}>
      <Loaded query={query} what="The request">
        {(details) => <Details organizationId={organizationId} details={details} />}
      </Loaded>
    </Frame>
  )
}

function Details({
  organizationId,
  details,
}: {
  readonly organizationId: string
  readonly details: Schemas['RequestDetails']
}) {
  const { charge, reversal, cache } = details
  return (
    <>
      <Row>
        <Outcome entry={charge} />
        <Badge>{charge.model}</Badge>
        <Badge>{charge.protocol ?? 'unknown format'}</Badge>
        {charge.isStream && <Badge>stream</Badge>}
        <Link href={pagePath('key', { organizationId, apiKeyId: charge.apiKeyId })}>
          <Name>{details.apiKeyName ?? charge.apiKeyId}</Name>
        </Link>
        <span>
          in <Name>{details.projectName ?? charge.projectId}</Name>
        </span>
        {charge.endUser !== null && (
          <span>
            for <Name>{charge.endUser}</Name>
          </span>
        )}
        {Object.entries(charge.tags).map(([key, value]) => (
          <Badge key={key}>{`${key}: ${value}`}</Badge>
        ))}
        <Time at={charge.at} />
      </Row>
      {reversal !== null && (
        <Banner kind="info">
          The charge was reversed on <Time at={reversal.at} />, since the answer did not arrive.
        </Banner>
      )}
      <Columns>
        <Stack>
          <Card title={`Where the time went: ${formatDuration(charge.durationMs)}`}>
            <Waterfall totalMs={charge.durationMs} spans={spansOf(details)} />
          </Card>
          <Card title="What it cost">
            <PriceLines organizationId={organizationId} details={details} />
          </Card>
          <ContentCard organizationId={organizationId} details={details} />
        </Stack>
        <Stack>
          <Card title="Prompt cache">
            <p>{wordsOfCache(charge, cache)}</p>
          </Card>
          <Card title="Tokens">
            <KeyValue rows={tokenRows(charge)} />
            {details.countSource !== null && <p>{wordsOfSource[details.countSource]}</p>}
          </Card>
          {details.replica !== null && (
            <Card title="Replica">
              <code>{details.replica}</code>
              {details.routing !== null && <p>{wordsOfRouting(details.routing)}</p>}
            </Card>
          )}
          <Card>
            <Disclosure title="Raw row">
              <Code label="Ledger" wraps text={JSON.stringify(details, null, 2)} />
            </Disclosure>
          </Card>
        </Stack>
      </Columns>
    </>
  )
}

function wordsOfRouting(routing: Schemas['RoutingReason']): string {
  const { candidates, matchedTokens, outstandingTokens, heldMs } = routing
  const among = candidates === 1 ? 'The only replica with room' : `Chosen of ${formatCount(candidates)} with room`
  const held = `believed to hold ${formatCounted(matchedTokens, 'token')} of the prompt`
  const work = `${formatCounted(outstandingTokens, 'token')} of others to compute before it`
  return `${among}, ${held}, with ${work}; the request waited ${formatDuration(heldMs)} in the pool.`
}

const wordsOfSource = {
  reported: 'These are the counts that the replica’s server reported; it takes messages, so they cannot be checked.',
  estimated: 'The replica’s server did not say what it had counted: these are lower bounds.',
} as const

/** The three parts that the service has measured; together they are the whole duration. */
function spansOf({ charge, queueMs, promptMs, answerMs }: Schemas['RequestDetails']): readonly Span[] {
  const { durationMs, output, inputCacheRead } = charge
  const waited = queueMs ?? durationMs
  const spans: Span[] = [{ name: 'counted and waited', fromMs: 0, toMs: waited, said: 'until a slot began with it' }]
  if (promptMs !== null) {
    const cached = inputCacheRead === 0 ? '' : `, ${formatCounted(inputCacheRead, 'token')} from the cache`
    spans.push({ name: 'prompt', fromMs: waited, toMs: waited + promptMs, said: `until the first token${cached}` })
  }
  if (answerMs !== null) {
    const rate = answerMs > 0 && output > 1 ? `, ${((output / answerMs) * 1_000).toFixed(1)} a second` : ''
    const said = `${formatCounted(output, 'token')}${rate}`
    spans.push({ name: 'answer', fromMs: durationMs - answerMs, toMs: durationMs, said })
  }
  return spans
}

function wordsOfCache(charge: LedgerEntry, cache: Schemas['RequestDetails']['cache']): string {
  const all = inputTokensOf(charge)
  if (cache === null)
    return `${formatCount(charge.inputCacheRead)} of ${formatCount(all)} tokens were read from the cache.`
  const where = { slot: 'the slot itself', copy: 'another slot', memory: 'memory', disk: 'the disk', none: 'nowhere' }[
    cache.source
  ]
  const { reusedTokens, promptTokens, firstDifference } = cache
  if (reusedTokens === 0 && firstDifference === null)
    return 'Nothing like this prompt was held, so all of it was computed.'
  const begin =
    reusedTokens === 0
      ? `None of ${formatCount(promptTokens)} tokens could be taken over.`
      : `${formatCount(reusedTokens)} of ${formatCount(promptTokens)} tokens came from ${where}.`
  if (firstDifference === null) return begin
  const part = firstDifference.in === '' ? 'it' : firstDifference.in
  return `${begin} Computed anew from token ${formatCount(firstDifference.atToken)} on: there ${part} differs from the nearest prompt held.`
}

function tokenRows(charge: LedgerEntry): readonly (readonly [string, string])[] {
  return [
    ['Input, uncached', formatCount(charge.inputUncached)],
    ['Input, read from the cache', formatCount(charge.inputCacheRead)],
    ['Input, written to it', formatCount(charge.inputCacheWrite)],
    ['Output', formatCount(charge.output)],
    ['of it thinking', formatCount(charge.outputThinking)],
  ]
}
