import { deriveThinking } from '../probe-template.ts'
import { bareKeys } from '../known/bare-keys.ts'
import { harmony } from '../known/harmony.ts'
import { isKnown } from '../known/notations.ts'
import { pythonicCalls } from '../known/pythonic-calls.ts'
import { deriveLayout } from './derive-layout.ts'
import { genericFormat } from './generic-tools.ts'
import { sentinels, tryRender, user, callTurn, sentinelCalls } from './probes.ts'
import {
  plainFrame,
  type ArgumentsForm,
  type Enclosure,
  type HistoryForm,
  type IdShape,
  type RenderProbe,
  type ToolFormat,
  type TemplateToolMessage,
  type TextPlacement,
} from './tool-format.ts'
import { createTurnCutter, type TurnCutter } from './turn-frame.ts'
import { keepsHistory, roundTrips } from './verify-format.ts'

/** The shapes that templates are known to insist on, the commonest first; a number is the length of letters and digits. */
const idShapes: readonly IdShape[] = [
  { kind: 'any' },
  { kind: 'alphanumeric', length: 9 },
  { kind: 'name-and-index' },
  ...[8, 10, 12, 16, 24, 32].map((length) => ({ kind: 'alphanumeric', length }) as const),
]

/**
 * Finds out how a model writes tool calls, by rendering some with its template and comparing.
 *
 * Every format is tried before it is given out: calls rendered with it are parsed again. Where the
 * template has no place for calls, or none that keeps them whole, the generic format takes its place.
 * Null where the template does not even render a plain conversation.
 */
export function deriveToolFormat(render: RenderProbe): ToolFormat | null {
  const thinking = deriveThinking(render).tags
  const own = deriveOwnFormat(render, createTurnCutter(render, thinking), thinking)
  if (own === null) return deriveGenericFormat(render)
  return { ...own, showsTools: tryRender(render, [user])?.includes(sentinels.names[0]) ?? false }
}

/** The generic format alone, whatever place the template has for calls. */
export function deriveGenericFormat(render: RenderProbe): ToolFormat | null {
  // The template is never shown the tools then, which it may refuse.
  const untold: RenderProbe = (messages, options) => render(messages, { ...options, tools: null })
  const cutter = createTurnCutter(untold, deriveThinking(untold).tags)
  const format = genericFormat(cutter)
  if (cutter.ways.length > 0) return firstVerified(untold, cutter, [format])
  // A template may never show a turn of the model that stands last, as no prompt has one.
  return keepsHistory(untold, format) ? format : null
}

function deriveOwnFormat(render: RenderProbe, cutter: TurnCutter, thinking: Enclosure | null): ToolFormat | null {
  const conversation = tryRender(render, [user])
  const prompt = tryRender(render, [user], { addGenerationPrompt: true }) ?? conversation
  if (conversation === null || prompt === null) return null
  const known = harmony.detect(render, conversation) ?? bareKeys.detect(render, conversation)
  if (known !== null) return firstVerified(render, cutter, [known])
  const apart: ToolFormat[] = []
  const inContent: ToolFormat[] = []
  for (const { asCalls, textApart, asContent } of attempts(render, cutter)) {
    const verified = firstVerified(render, cutter, asCalls)
    if (verified !== null) return verified
    // What the prompt ends with the model finds written, and would write a second time.
    const isAnswers = ({ section }: ToolFormat) => !endsWith(prompt, section.open) && !holds(section.open, thinking)
    apart.push(...textApart.filter(isAnswers))
    inContent.push(...asContent.filter(isAnswers))
  }
  const written = firstVerified(render, cutter, [...apart, ...inContent])
  if (written !== null) return written
  // Asked last, because markers around the list of tools are weaker evidence than calls that were rendered.
  const pythonic = pythonicCalls.detect(render, conversation)
  return pythonic === null ? null : firstVerified(render, cutter, [pythonic])
}

function endsWith(prompt: string, opening: string): boolean {
  return opening.trim() !== '' && prompt.trimEnd().endsWith(opening.trim())
}

function holds(opening: string, thinking: Enclosure | null): boolean {
  return thinking !== null && [thinking.open, thinking.close].some((marker) => opening.includes(marker))
}

/** The formats that renders suggest, made one by one as they are asked for. */
function* attempts(render: RenderProbe, cutter: TurnCutter): Generator<Formats> {
  const forms = idShapes.flatMap((ids) => (['object', 'text'] as const).map((form) => ({ ids, form })))
  for (const attempt of forms) {
    for (const { cut, lead } of cutter.ways) {
      const layout = deriveLayout(render, { ...attempt, cut })
      if (layout === null) continue
      const format = { ...plainFrame, ...layout, lead, textOpen: cutter.textOpenBehind(lead) }
      yield historiesFor(render, format, attempt)
    }
  }
}

function firstVerified(render: RenderProbe, cutter: TurnCutter, formats: readonly ToolFormat[]): ToolFormat | null {
  return formats.find((format) => roundTrips(render, cutter, format)) ?? null
}

type Attempt = { readonly ids: IdShape; readonly form: 'object' | 'text' }

type Formats = Readonly<Record<'asCalls' | 'textApart' | 'asContent', readonly ToolFormat[]>>

/**
 * The ways to pass a conversation, the most natural first.
 *
 * `textApart` keeps the text of a turn away from its calls, where a template writes the two so that nobody could tell them
 * apart; `asContent` leaves nothing of a call to the template.
 */
export function historiesFor(
  render: RenderProbe,
  layout: Omit<ToolFormat, 'history'>,
  { ids, form }: Attempt,
): Formats {
  const history = deriveHistory(render, ids, layout.callsMax)
  const isOwn = isKnown(layout.notation)
  const forms: readonly ArgumentsForm[] = isOwn ? [] : form === 'text' ? ['text'] : ['object', 'scalars-as-text']
  const plain: HistoryForm = {
    argumentsAs: isOwn ? 'own-notation' : 'content',
    takesTextArguments: false,
    ids: { kind: 'any' },
    textBesideCalls: 'before',
    toolMessages: 'several',
  }
  const asCalls = forms.map((argumentsAs) => ({ ...layout, history: { ...history, argumentsAs } }))
  const textBesideCalls = history.textBesideCalls === 'before' ? placeTextApart(render, ids) : null
  return {
    asCalls,
    textApart:
      textBesideCalls === null
        ? []
        : asCalls.map((format) => ({ ...format, history: { ...format.history, textBesideCalls } })),
    asContent: (['several', 'none'] as const).map((toolMessages) => ({
      ...layout,
      history: { ...plain, toolMessages },
    })),
  }
}

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
  return placeTextApart(render, ids)
}

/** Where the text of a turn can go that its calls cannot stand beside. */
function placeTextApart(render: RenderProbe, ids: IdShape): TextPlacement {
  const [call] = sentinelCalls(ids)
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
