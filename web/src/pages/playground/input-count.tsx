import { useEffect, useState } from 'react'
import { formatCounted } from '../../format/figures.ts'
import { toBody, type Settings, type Turn } from './conversation.ts'
import { sendWire, type PlaygroundProject } from './run.ts'

/** Typing rests this long before the service is asked. */
const restMs = 400

type Props = { readonly place: PlaygroundProject; readonly settings: Settings; readonly turns: readonly Turn[] }

/** How many tokens the prompt has, as the service counts it. */
export function InputCount({ place: { organizationId, projectId }, settings, turns }: Props) {
  const body = JSON.stringify(countBody(settings, turns))
  const [counted, setCounted] = useState<{ readonly body: string; readonly tokens: number } | null>(null)
  useEffect(() => {
    const own = new AbortController()
    const timer = setTimeout(() => {
      const asked = { organizationId, projectId, body: JSON.parse(body) as unknown, signal: own.signal }
      void count(asked).then((tokens) => (tokens === null ? undefined : setCounted({ body, tokens })))
    }, restMs)
    return () => {
      clearTimeout(timer)
      own.abort()
    }
  }, [organizationId, projectId, body])
  if (counted?.body !== body) return null
  return <span role="status">{formatCounted(counted.tokens, 'token')} in</span>
}

const tries = 5
const retryMs = 1_000

/** Null where the service does not say. One that has too much to do is asked again a little later. */
async function count(asked: Parameters<typeof sendWire>[1]): Promise<number | null> {
  for (let attempt = 0; attempt < tries && !asked.signal.aborted; attempt += 1) {
    const response = await sendWire('messages/count-tokens', asked).catch(() => null)
    if (response?.ok === true) return ((await response.json()) as { readonly input_tokens: number }).input_tokens
    if (response !== null && response.status < 500) return null
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
  return null
}

/** What the counting route takes of a request. The prompt is the same in both formats. */
function countBody(settings: Settings, turns: readonly Turn[]): Readonly<Record<string, unknown>> {
  const { model, messages, system, tools, thinking } = toBody({ ...settings, format: 'messages' }, turns)
  return { model, messages, system, tools, thinking }
}
