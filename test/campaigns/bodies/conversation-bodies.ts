import type { EngineRequest, Message, TextBlock, Tool } from '../../../src/core/generation.ts'
import type { MarkedText, RandomConversation, Turn } from './random-conversations.ts'

type Fields = Readonly<Record<string, unknown>>

/** What chat completions say of a conversation; it has no marks. */
export function chatBody({ system, tools, turns, isThinking }: RandomConversation): Fields {
  const content = (texts: readonly MarkedText[]) => texts.map(({ text }) => ({ type: 'text', text }))
  const messages = turns.flatMap((turn): Fields[] => {
    if (turn.role === 'assistant') return [chatAnswer(turn)]
    const results = turn.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }))
    return turn.texts.length === 0 ? results : [...results, { role: 'user', content: content(turn.texts) }]
  })
  return {
    messages: system.length === 0 ? messages : [{ role: 'system', content: content(system) }, ...messages],
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    reasoning_effort: isThinking ? 'high' : 'none',
  }
}

type Answer = Extract<Turn, { role: 'assistant' }>

function chatAnswer({ thought, text, calls }: Answer): Fields {
  const called = calls.map(({ id, name, input }) => {
    return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
  })
  return {
    role: 'assistant',
    content: text,
    ...(thought !== null && { reasoning_content: thought.text }),
    ...(called.length > 0 && { tool_calls: called }),
  }
}

/** What the messages format says of the same one. */
export function messagesBody({ system, tools, turns, isThinking }: RandomConversation): Fields {
  const content = (texts: readonly MarkedText[]) =>
    texts.map(({ text, isMarked }) => ({ type: 'text', text, ...(isMarked && mark) }))
  const messages = turns.map((turn): Fields => {
    if (turn.role === 'assistant') return { role: 'assistant', content: messagesAnswer(turn) }
    const results = turn.results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text }))
    return { role: 'user', content: [...results, ...content(turn.texts)] }
  })
  return {
    messages,
    ...(system.length > 0 && { system: content(system) }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    }),
    thinking: { type: isThinking ? 'adaptive' : 'disabled' },
  }
}

const mark = { cache_control: { type: 'ephemeral' } }

function messagesAnswer({ thought, text, calls }: Answer): Fields[] {
  return [
    ...(thought === null ? [] : [{ type: 'thinking', thinking: thought.text, signature: thought.signature }]),
    ...(text === null ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ]
}

/** What an engine is given of it. */
export function engineFields({ system, tools, turns, isThinking }: RandomConversation): Partial<EngineRequest> {
  const said = turns.map((turn): Message => {
    if (turn.role === 'assistant') return { role: 'assistant', content: engineAnswer(turn) }
    const results = turn.results.map(({ id, text }) => {
      const content: TextBlock[] = [{ kind: 'text', text }]
      return { kind: 'tool-result', toolCallId: id, isError: false, content } as const
    })
    return { role: 'user', content: [...results, ...turn.texts.map(textBlock)] }
  })
  return {
    messages: system.length === 0 ? said : [{ role: 'system', content: system.map(textBlock) }, ...said],
    tools: tools.map((tool): Tool => ({ ...tool, isStrict: false, schemaPath: [], input: 'json' })),
    thinking: isThinking ? { kind: 'on', tokensMax: null } : { kind: 'off' },
  }
}

function textBlock({ text, isMarked }: MarkedText): TextBlock {
  return { kind: 'text', text, ...(isMarked && { cacheBreakpoint: { lifetime: '5m' } }) }
}

function engineAnswer({ thought, text, calls }: Answer): Extract<Message, { role: 'assistant' }>['content'] {
  return [
    ...(thought === null ? [] : [{ kind: 'thinking', text: thought.text } as const]),
    ...(text === null ? [] : [{ kind: 'text', text } as const]),
    ...calls.map(({ id, name, input }) => {
      return { kind: 'tool-call', id, name, arguments: JSON.stringify(input) } as const
    }),
  ]
}
