import type { BlockStart, FinishReason, GenerationEvent, TokenLogprob, Usage } from './generation.ts'

export type GeneratedBlock = BlockStart & { readonly text: string; readonly logprobs: readonly TokenLogprob[] | null }

/** A whole answer: the fold of a stream. */
export type Generation = {
  readonly blocks: readonly GeneratedBlock[]
  readonly reason: FinishReason
  readonly usage: Usage
}

/** Folds the streams of several answers to one request, each beginning with its `start`. */
export async function collectAll(events: AsyncIterable<GenerationEvent>): Promise<Generation[]> {
  const answers: Generation[] = []
  const reader = events[Symbol.asyncIterator]()
  const rest = { [Symbol.asyncIterator]: () => ({ next: () => reader.next() }) }
  for (let next = await reader.next(); next.done !== true; next = await reader.next()) answers.push(await collect(rest))
  return answers
}

/** Folds a stream into the whole answer. A stream that stops without `finish` is an error, never a short answer. */
export async function collect(events: AsyncIterable<GenerationEvent>): Promise<Generation> {
  const blocks: GeneratedBlock[] = []
  let open: { block: BlockStart; texts: string[]; logprobs: TokenLogprob[] | null } | null = null
  for await (const event of events) {
    switch (event.type) {
      case 'start':
        break
      case 'block-start':
        open = { block: event.block, texts: [], logprobs: null }
        break
      case 'delta':
        open?.texts.push(event.text)
        if (open !== null && event.logprobs !== undefined) (open.logprobs ??= []).push(...event.logprobs)
        break
      case 'block-end':
        if (open !== null) blocks.push({ ...open.block, text: open.texts.join(''), logprobs: open.logprobs })
        open = null
        break
      case 'finish':
        return { blocks, reason: event.reason, usage: event.usage }
      default:
        event satisfies never
    }
  }
  throw new Error('The stream ended without a finish event.')
}
