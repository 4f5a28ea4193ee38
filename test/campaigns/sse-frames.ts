export type Frame = { readonly event: string | undefined; readonly data: string }

/** The events of a stream so far; the piece of one that has not arrived whole is left out. */
export function readFrames(text: string): Frame[] {
  const blocks = text.split('\n\n').slice(0, -1)
  return blocks.flatMap((block) => {
    // Lines that begin with a colon are comments, which keep a silent connection alive.
    const lines = block.split('\n').filter((line) => !line.startsWith(':'))
    if (lines.length === 0) return []
    const event = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length)
    const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length))
    return [{ event, data: data.join('\n') }]
  })
}

/** The text a client would show, thinking included, and in how many deltas it came. */
export function readText(frames: readonly Frame[]): { readonly text: string; readonly deltas: number } {
  let text = ''
  let deltas = 0
  for (const { data } of frames) {
    if (data === '[DONE]') continue
    const piece = deltaText(JSON.parse(data) as WireFrame)
    if (piece === '') continue
    text += piece
    deltas += 1
  }
  return { text, deltas }
}

type WireFrame = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string; readonly reasoning?: string } }[]
  readonly delta?: { readonly text?: string; readonly thinking?: string }
}

function deltaText({ choices, delta }: WireFrame): string {
  const chat = choices?.[0]?.delta
  return (chat?.reasoning ?? '') + (chat?.content ?? '') + (delta?.thinking ?? '') + (delta?.text ?? '')
}

/** Whether the stream says of itself that it succeeded. */
export function hasTerminator(frames: readonly Frame[]): boolean {
  return frames.some(({ event, data }) => data === '[DONE]' || event === 'message_stop')
}
