import { callTurn, sentinelCalls, sentinels, tryRender, user } from './probes.ts'
import type { HistoryForm, IdShape, RenderProbe, TemplateToolMessage, TextPlacement } from './tool-format.ts'

/** Finds out how a conversation with calls must be passed; the form of the arguments is for the caller to try. */
export function deriveHistory(render: RenderProbe, ids: IdShape, callsMax: 1 | null): Omit<HistoryForm, 'argumentsAs'> {
  return {
    takesTextArguments: takesText(render, ids),
    ids,
    textBesideCalls: findTextPlacement(render, ids),
    toolMessages: countToolMessages(render, ids, callsMax),
  }
}

function takesText(render: RenderProbe, ids: IdShape): boolean {
  const [call] = sentinelCalls(ids)
  const rendered = tryRender(render, [user, callTurn([call], 'text')])
  return rendered?.includes(JSON.stringify(call.arguments)) ?? false
}

function findTextPlacement(render: RenderProbe, ids: IdShape): TextPlacement {
  const [call] = sentinelCalls(ids)
  // In front of the question the names stand in the declarations.
  const together = tryRender(render, [user, callTurn([call], 'object', sentinels.text)])
    ?.split(sentinels.user)
    .at(-1)
  const text = together?.lastIndexOf(sentinels.text) ?? -1
  const name = together?.lastIndexOf(call.name) ?? -1
  if (text !== -1 && name !== -1) return text < name ? 'before' : 'after'
  const own: TemplateToolMessage = { role: 'assistant', content: sentinels.text }
  const apart = tryRender(render, [user, own, callTurn([call], 'object')]) ?? ''
  const start = apart.indexOf(sentinels.text)
  if (start === -1 || apart.lastIndexOf(call.name) < start) return 'lost'
  // A template that counts plain turns takes one text per question, and the final answer is one.
  const result: TemplateToolMessage = { role: 'tool', content: 'done', tool_call_id: call.id, name: call.name }
  const isRepeatable = tryRender(render, [user, own, callTurn([call], 'object'), result, own]) !== null
  return isRepeatable ? 'own' : 'joined'
}

function countToolMessages(render: RenderProbe, ids: IdShape, callsMax: 1 | null): HistoryForm['toolMessages'] {
  const calls = sentinelCalls(ids).slice(0, callsMax ?? 2)
  const results = sentinels.results.map((content, index): TemplateToolMessage => {
    const call = calls[index] ?? calls[0]
    return { role: 'tool', content, tool_call_id: call?.id ?? '', name: call?.name ?? '' }
  })
  const rendersAll = (count: number) => {
    const shown = results.slice(0, count)
    const rendered = tryRender(render, [user, callTurn(calls.slice(0, count), 'object'), ...shown]) ?? ''
    let position = 0
    return shown.every(({ content }) => {
      position = rendered.indexOf(content ?? '', position)
      return position !== -1
    })
  }
  return rendersAll(2) ? 'several' : rendersAll(1) ? 'one' : 'none'
}
