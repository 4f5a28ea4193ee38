import type { GenerationEvent } from './generation.ts'

/** Passes events through and throws at the first one that breaks the grammar of `GenerationEvent`. */
export async function* checkStream(events: AsyncIterable<GenerationEvent>): AsyncGenerator<GenerationEvent> {
  let state: 'before' | 'between' | 'in-block' | 'finished' = 'before'
  for await (const event of events) {
    const next = follow(state, event)
    if (next === null) throw new Error(`The event ${event.type} must not come in state ${state}.`)
    state = next
    yield event
  }
  if (state !== 'finished') throw new Error(`The stream ended in state ${state}.`)
}

function follow(state: 'before' | 'between' | 'in-block' | 'finished', event: GenerationEvent) {
  switch (event.type) {
    case 'start':
      return state === 'before' ? 'between' : null
    case 'block-start':
      return state === 'between' ? 'in-block' : null
    case 'delta':
      return state === 'in-block' ? 'in-block' : null
    case 'block-end':
      return state === 'in-block' ? 'between' : null
    case 'finish':
      return state === 'between' ? 'finished' : null
  }
}
