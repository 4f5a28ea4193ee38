// Both wire formats as a page reads them: server-sent events, of which each says what it adds to the answer.

export type WireFormat = 'chat-completions' | 'messages'

export const wirePaths: Readonly<Record<WireFormat, string>> = {
  'chat-completions': '/v1/chat/completions',
  messages: '/v1/messages',
}

export type WireEvent = { readonly name: string | null; readonly text: string; readonly atMs: number }

/** Yields the events of a stream as they come. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<WireEvent> {
  const startedMs = performance.now()
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n')
      rest = blocks.pop() ?? ''
      const atMs = performance.now() - startedMs
      yield* blocks.map((block) => parseBlock(block, atMs)).filter((event) => event !== null)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function parseBlock(block: string, atMs: number): WireEvent | null {
  const lines = block.split('\n')
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart())
  if (data.length === 0) return null
  const name =
    lines
      .find((line) => line.startsWith('event:'))
      ?.slice(6)
      .trim() ?? null
  return { name, text: data.join('\n'), atMs }
}
