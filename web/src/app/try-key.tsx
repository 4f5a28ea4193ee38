import { useEffect, useRef, useState } from 'react'
import { formatDuration } from '../format/figures.ts'
import { Button } from '../kit/button.tsx'
import { Link } from '../kit/link.tsx'
import { Banner, Row, Stack } from '../kit/page.tsx'
import { readEvents, wirePaths, type WireFormat } from '../lib/wire.ts'
import { pagePath } from './paths.ts'

type Tried = {
  readonly status: number
  readonly firstMs: number | null
  readonly totalMs: number | null
  readonly text: string
  readonly requestId: string | null
  readonly fault: string | null
}

type Props = {
  readonly apiKey: string
  readonly format: WireFormat
  readonly model: string
  readonly organizationId: string
}

/**
 * Sends one real request with this very key, as the client would; the session stays out of it.
 *
 * What comes back streams in below it.
 */
export function TryKey({ apiKey, format, model, organizationId }: Props) {
  const [tried, setTried] = useState<Tried | null>(null)
  const [isBusy, setBusy] = useState(false)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const run = async () => {
    running.current = new AbortController()
    setBusy(true)
    await tryKey({ apiKey, format, model, signal: running.current.signal, show: setTried }).catch(() => {})
    setBusy(false)
  }
  return (
    <Stack>
      <Row>
        <Button icon="play" isBusy={isBusy} onClick={() => void run()}>
          Test it
        </Button>
        {tried !== null && <Verdict tried={tried} organizationId={organizationId} />}
      </Row>
      {tried !== null && tried.fault !== null && <Banner kind="bad">{tried.fault}</Banner>}
      {tried !== null && tried.text !== '' && (
        <blockquote style={{ margin: 0, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{tried.text}</blockquote>
      )}
    </Stack>
  )
}

function Verdict({
  tried: { status, firstMs, totalMs, requestId },
  organizationId,
}: {
  readonly tried: Tried
  readonly organizationId: string
}) {
  return (
    <span role="status">
      {status === 0 ? 'No answer' : status}
      {firstMs !== null && ` · ${formatDuration(firstMs)} to the first token`}
      {totalMs !== null && ` · ${formatDuration(totalMs)} in all `}
      {requestId !== null && totalMs !== null && status === 200 && (
        <Link href={pagePath('request', { organizationId, requestId })}>Open request</Link>
      )}
    </span>
  )
}

type Trial = Omit<Props, 'organizationId'> & { readonly signal: AbortSignal; readonly show: (tried: Tried) => void }

async function tryKey({ apiKey, format, model, signal, show }: Trial): Promise<void> {
  const startedMs = performance.now()
  let tried: Tried = { status: 0, firstMs: null, totalMs: null, text: '', requestId: null, fault: null }
  const update = (changes: Partial<Tried>) => show((tried = { ...tried, ...changes }))
  const messages = [{ role: 'user', content: 'Hello' }]
  const response = await fetch(wirePaths[format], {
    method: 'POST',
    credentials: 'omit',
    signal,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, max_tokens: 100, stream: true }),
  }).catch(() => null)
  if (response === null) return update({ fault: 'Odyssey does not answer.' })
  update({ status: response.status, requestId: response.headers.get('x-request-id') })
  if (!response.ok || response.body === null) return update({ fault: await faultOf(response) })
  for await (const { text } of readEvents(response.body)) {
    const added = textOf(text)
    if (added === '') continue
    update({ firstMs: tried.firstMs ?? performance.now() - startedMs, text: tried.text + added })
  }
  update({ totalMs: performance.now() - startedMs })
}

type Chunk = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  readonly delta?: { readonly text?: string }
}

function textOf(data: string): string {
  if (data === '[DONE]') return ''
  const { choices, delta } = JSON.parse(data) as Chunk
  return choices?.[0]?.delta?.content ?? delta?.text ?? ''
}

/** The wire error as it came, and the step that mends it. */
async function faultOf(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as { readonly error?: { readonly message?: string } }
  const message = body.error?.message ?? `The service answered with ${response.status}.`
  return `${message}${mends[response.status] ?? ''}`
}

const mends: Readonly<Record<number, string>> = {
  401: ' Check that the whole key was copied.',
  403: ' The key’s rules do not allow this; an owner can change them.',
  404: ' Check the address: base addresses for chat completions end in /v1, those for messages do not.',
  429: ' Its limit or budget is used up at the moment; the page Limits says which.',
}
