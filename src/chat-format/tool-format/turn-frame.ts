import { findSeam, sharedEnd, sharedStart } from './compare-texts.ts'
import { callTurn, sentinelCalls, sentinels, tryRender, user } from './probes.ts'
import type { Enclosure, RenderProbe } from './tool-format.ts'

/** What stands around an assistant's plain text when it is the last turn. */
type TurnFrame = { readonly before: string; readonly after: string }

function findTurnFrame(render: RenderProbe): TurnFrame | null {
  const plain = tryRender(render, [user, { role: 'assistant', content: sentinels.text }])
  const start = plain?.lastIndexOf(sentinels.text) ?? -1
  if (plain === null || start === -1) return null
  return { before: plain.slice(0, start), after: plain.slice(start + sentinels.text.length) }
}

export type CallRegion = { readonly text: string; readonly endsTurn: boolean }

/** Cuts what the model would have written out of a rendered conversation that ends with its turn. */
export interface TurnCutter {
  /** Ways to find where a turn begins, and what of a turn with calls the prompt has written then. */
  readonly ways: readonly { readonly lead: string; cut(rendered: string): CallRegion | null }[]
  /** What the model writes behind its prompt. */
  cutOutput(rendered: string): string | null
  /** What a plain answer begins with, the lead included. */
  textOpenBehind(lead: string): string
}

export function createTurnCutter(render: RenderProbe, thinking: Enclosure | null): TurnCutter {
  const frame = findTurnFrame(render)
  if (frame === null) return { ways: [], cutOutput: () => null, textOpenBehind: () => '' }
  const prompts = [null, false, true].flatMap(
    (enableThinking) => tryRender(render, [user], { addGenerationPrompt: true, enableThinking }) ?? [],
  )
  const { before, after } = frame
  const finish = (rendered: string, start: number): CallRegion | null => {
    const endsTurn = after !== '' && rendered.endsWith(after)
    const end = rendered.length - (endsTurn ? after.length : codaLength(rendered, after))
    return end < start ? null : { text: withoutEnd(rendered.slice(start, end), after.trim()), endsTurn }
  }
  const behindPrompt = (rendered: string): CallRegion | null => {
    const starts = prompts.flatMap((prompt) => (rendered.startsWith(prompt) ? [prompt.length] : []))
    if (starts.length === 0) return null
    const start = Math.max(...starts)
    return finish(rendered, start + emptyThinkingLength(rendered.slice(start), thinking))
  }
  const besideText = (rendered: string) => finish(rendered, startBeside(before, rendered))
  const plain = behindPrompt(before + sentinels.text)?.text
  const opening = plain?.slice(0, plain.lastIndexOf(sentinels.text)) ?? ''
  const lead = leadOf(render, { besideText, behindPrompt })
  const byText = { lead, cut: besideText }
  const byPrompt = { lead: '', cut: behindPrompt }
  const byMark = [...lead.matchAll(/<[^<>]+>$/gu)].map(([mark]) => ({
    lead: mark,
    cut: behind(mark, behindPrompt),
  }))
  return {
    // A lead of letters is the name of a role, which is no part of a call; a mark behind it may be.
    ways: /\p{L}/u.test(lead) ? [byPrompt, ...byMark, { ...byText, lead: '' }] : [byText, byPrompt],
    cutOutput: (rendered) => (behindPrompt(rendered) ?? besideText(rendered))?.text ?? null,
    textOpenBehind: (lead) => (opening.trim() === '' ? '' : (lead + opening).trimStart()),
  }
}

/** What the model would have written, with the mark in front that the prompt ends with. */
function behind(mark: string, cut: (rendered: string) => CallRegion | null): (rendered: string) => CallRegion | null {
  return (rendered) => {
    const region = cut(rendered)
    return region === null ? null : { ...region, text: mark + region.text }
  }
}

/** Words in a row: the end of a turn has none. */
const prose = /(?:\p{L}+ ){3}/u

/**
 * How much follows a turn with calls as it follows plain ones, where the turn itself ends otherwise: a template may end each
 * conversation with instructions. They begin with a marker.
 */
function codaLength(rendered: string, after: string): number {
  const length = sharedEnd(rendered, after)
  const coda = after.slice(after.length - length)
  const start = coda.search(/[<[«【◁]/u)
  return start !== -1 && prose.test(coda) ? length - start : 0
}

/** What a template writes twice at the end of a turn with calls ends it the first time. */
function withoutEnd(text: string, end: string): string {
  const shown = text.trimEnd()
  return end !== '' && shown.endsWith(end) ? withoutEnd(shown.slice(0, -end.length), end) : text
}

/** Where a turn begins that need not begin like one with plain text. */
function startBeside(before: string, rendered: string): number {
  const shared = sharedStart(before, rendered)
  let start = shared < before.length ? findSeam(rendered, Math.max(0, shared - 24), shared) : shared
  // Signs at the beginning of a line are a mark as well, such as the `>>>` in front of a name.
  const line = rendered.lastIndexOf('\n', shared - 1) + 1
  if (start === shared && shared < before.length && isSigns(rendered.slice(line, shared))) start = line
  return Math.max(start, rendered.lastIndexOf(sentinels.user) + sentinels.user.length)
}

function isSigns(text: string): boolean {
  return text.length < 24 && /^[^\p{L}\p{N}\s]+$/u.test(text)
}

function emptyThinkingLength(output: string, thinking: Enclosure | null): number {
  if (thinking === null) return 0
  const empty = new RegExp(`^\\s*${RegExp.escape(thinking.open)}\\s*${RegExp.escape(thinking.close)}\\s*`, 'u')
  return empty.exec(output)?.[0].length ?? 0
}

type Cuts = Readonly<Record<'besideText' | 'behindPrompt', (rendered: string) => CallRegion | null>>

/** What a turn with calls begins with that the prompt holds already. */
function leadOf(render: RenderProbe, { besideText, behindPrompt }: Cuts): string {
  const [call] = sentinelCalls({ kind: 'any' })
  for (const form of ['object', 'text'] as const) {
    const rendered = tryRender(render, [user, callTurn([call], form)])
    if (rendered === null || !rendered.includes(call.name)) continue
    const [whole, rest] = [besideText(rendered)?.text ?? '', behindPrompt(rendered)?.text ?? '']
    const lead = rest !== '' && whole.endsWith(rest) ? whole.slice(0, whole.length - rest.length).trim() : ''
    if (lead !== '') return lead
  }
  return ''
}
