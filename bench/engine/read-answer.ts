import type { Answer } from './contestant.ts'

type Chunk = {
  readonly choices?: readonly { readonly delta?: Readonly<Record<string, unknown>> }[]
  readonly usage?: Usage | null
}

type Usage = {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly prompt_tokens_details?: { readonly cached_tokens?: number }
}

/**
 * Asks for a streamed chat completion and notes when things come.
 *
 * It does as little as it can, since it runs on the machine that it measures: only
 * chunks up to the first text are parsed, and the one with the usage; of the others only the time is taken. Who is told of
 * the first text gets the whole text too.
 */
export async function readAnswer(
  address: string,
  key: string,
  body: object,
  onFirstText?: () => void,
): Promise<Answer & { readonly text: string }> {
  const startMs = performance.now()
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
  })
  if (!response.ok || response.body === null) throw new Error(`${response.status}: ${await response.text()}`)
  let usage: Usage | null = null
  let text = ''
  const textsMs: number[] = []
  for await (const line of readLines(response.body)) {
    if (!line.startsWith('data: {')) continue
    const isLater = textsMs.length > 0 && !line.includes('"usage":{')
    if (isLater) textsMs.push(performance.now())
    if (isLater && onFirstText === undefined) continue
    const chunk = JSON.parse(line.slice('data: '.length)) as Chunk
    if (textsMs.length === 0 && hasText(chunk)) {
      textsMs.push(performance.now())
      onFirstText?.()
    }
    text += textOf(chunk)
    usage = chunk.usage ?? usage
  }
  const [firstMs] = textsMs
  if (firstMs === undefined || usage === null) throw new Error('An answer has no text or no usage.')
  return { ...countsOf(usage), text, startMs, firstMs, endMs: performance.now(), textsMs }
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function hasText({ choices = [] }: Chunk): boolean {
  return choices.some(({ delta }) => ['content', 'reasoning_content'].some((field) => Boolean(delta?.[field])))
}

function textOf({ choices = [] }: Chunk): string {
  const said = choices[0]?.delta?.['content']
  return typeof said === 'string' ? said : ''
}

function countsOf(usage: Usage): Pick<Answer, 'promptTokens' | 'cachedTokens' | 'outputTokens'> {
  return {
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    outputTokens: usage.completion_tokens,
  }
}
