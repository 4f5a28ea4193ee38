// Probes a chat template: renders small conversations with it to see what it can say.

import type { ChatTemplate, TemplateMessage } from './chat-template.ts'
import { findMarkerStart, sharedStart } from './tool-format/compare-texts.ts'
import { harmonyThinking, isHarmony } from './known/harmony.ts'
import { callTurn, sentinelCalls, sentinels, tryRender, user } from './tool-format/probes.ts'
import type { IdShape, RenderProbe, TemplateToolMessage } from './tool-format/tool-format.ts'

/** Everything about a template that no render of the conversation at hand would show. */
export type TemplateTraits = {
  readonly takesSystem: boolean
  /** A system message after the first turn is rendered in place. */
  readonly takesLateSystem: boolean
  /** The markers around thinking; null when the model does not think. */
  readonly thinkingTags: ThinkingTags | null
  /** `never` is a model that thinks whatever it is told; `none` one whose template leaves it to the prompt's end. */
  readonly thinkingSwitch: 'flag' | 'none' | 'never'
}

export type ThinkingTags = {
  readonly open: string
  readonly close: string
  /** What a call begins with, in a template that lets one follow from within the thinking. */
  readonly callOpen?: string
}

/** Tags that are looked for in a template's source, since a template that leaves thinking out of history renders none. */
const knownTags: readonly ThinkingTags[] = [
  { open: '<think>', close: '</think>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { open: '<|channel>thought', close: '<channel|>' },
]

export function probeTemplate(template: ChatTemplate): TemplateTraits {
  const user: TemplateMessage = { role: 'user', content: 'probe-user' }
  const assistant: TemplateMessage = { role: 'assistant', content: 'probe-assistant' }
  const system: TemplateMessage = { role: 'system', content: 'probe-system' }
  const render = template.probe
  const thinking = deriveThinking(render)
  return {
    takesSystem: rendersInOrder(render, [system, user]),
    takesLateSystem: rendersInOrder(render, [user, assistant, system, { role: 'user', content: 'probe-second' }]),
    thinkingTags: thinking.tags ?? knownTags.find((tags) => template.source.includes(tags.close)) ?? null,
    thinkingSwitch: thinking.switchedBy === 'effort' ? 'never' : thinking.switchedBy,
  }
}

/** Whether every message's text appears, in the order given: a template may drop or hoist what it does not expect. */
function rendersInOrder(render: RenderProbe, messages: readonly TemplateMessage[]): boolean {
  const text = tryRender(render, messages, { tools: null, addGenerationPrompt: true })
  if (text === null) return false
  let position = 0
  for (const message of messages) {
    position = text.indexOf(message.content ?? '', position)
    if (position === -1) return false
  }
  return true
}

export type ThinkingFormat = {
  /** Null where nothing shows how the model marks its thinking. */
  readonly tags: ThinkingTags | null
  /** With thinking on, a prompt ends inside an open block and the model goes on from there. */
  readonly promptOpens: boolean
  /** `flag` is the template's own switch; `effort` stands in the system text and has no off. */
  readonly switchedBy: 'flag' | 'effort' | 'none'
  /** Thinking that is replayed between a call and its result is shown to the model. */
  readonly isReplayed: boolean
}

/** Finds out how a template marks thinking, by rendering a turn with and without it and comparing. */
export function deriveThinking(render: RenderProbe): ThinkingFormat {
  const prompts = {
    on: generationPrompt(render, true),
    off: generationPrompt(render, false),
    unset: generationPrompt(render, null),
  }
  const hasChannels = prompts.unset !== null && isHarmony(prompts.unset)
  const replayed = hasChannels ? null : tagsOfReplay(render, prompts.on)
  const tags = hasChannels
    ? harmonyThinking
    : (replayed ?? tagsOfPrompts(prompts) ?? tagsOfOpenPrompt(prompts.unset) ?? tagsOfLastTurn(render, prompts.on))
  const states = [prompts.on, prompts.off, prompts.unset]
  return {
    tags,
    promptOpens: tags !== null && (prompts.on?.trimEnd().endsWith(tags.open) ?? false),
    switchedBy:
      new Set(states).size > 1
        ? 'flag'
        : /\breasoning(?: effort)?: *(?:low|medium|high)\b/iu.test(prompts.unset ?? '')
          ? 'effort'
          : 'none',
    isReplayed: hasChannels || replayed !== null,
  }
}

function generationPrompt(render: RenderProbe, enableThinking: boolean | null): string | null {
  return (
    tryRender(render, [user], { addGenerationPrompt: true, enableThinking, tools: null }) ??
    tryRender(render, [user], { addGenerationPrompt: true, enableThinking })
  )
}

type Prompts = { readonly on: string | null; readonly off: string | null; readonly unset: string | null }

function tagsOfReplay(render: RenderProbe, prompt: string | null) {
  const shapes: readonly IdShape[] = [{ kind: 'any' }, { kind: 'alphanumeric', length: 9 }, { kind: 'name-and-index' }]
  for (const ids of shapes) {
    for (const content of [sentinels.text, '']) {
      const tags = tagsOfTurn(render, { prompt, ids, content })
      if (tags !== null) return withCallOpen(render, tags, ids)
    }
  }
  return null
}

type Probe = { readonly prompt: string | null; readonly ids: IdShape; readonly content: string }

function tagsOfTurn(render: RenderProbe, { prompt, ids, content }: Probe) {
  const [call] = sentinelCalls(ids)
  const turn = callTurn([call], 'object', content)
  const result: TemplateToolMessage = { role: 'tool', content: 'done', tool_call_id: call.id, name: call.name }
  return tagsAround(render, { turn, followedBy: [result], prompt })
}

/** Notes what a call begins with that follows thinking without an end between the two. */
function withCallOpen(render: RenderProbe, tags: ThinkingTags, ids: IdShape): ThinkingTags {
  const [call] = sentinelCalls(ids)
  const turn = { ...callTurn([call], 'object'), reasoning_content: sentinels.thinking }
  const rendered = tryRender(render, [user, turn], { enableThinking: true }) ?? ''
  const start = rendered.indexOf(sentinels.thinking)
  const name = rendered.indexOf(call.name, start)
  const between = start === -1 || name === -1 ? '' : rendered.slice(start + sentinels.thinking.length, name).trim()
  const callOpen = between.includes(tags.close) ? undefined : /^\S+?[>\]▷»】]/u.exec(between)?.[0]
  return callOpen === undefined ? tags : { ...tags, callOpen }
}

/** A template may show thinking in the very last turn alone. */
function tagsOfLastTurn(render: RenderProbe, prompt: string | null) {
  return tagsAround(render, { turn: { role: 'assistant', content: sentinels.text }, followedBy: [], prompt })
}

type ThinkingTurn = {
  readonly turn: TemplateToolMessage
  readonly followedBy: readonly TemplateToolMessage[]
  readonly prompt: string | null
}

function tagsAround(render: RenderProbe, { turn, followedBy, prompt }: ThinkingTurn): ThinkingTags | null {
  const content = turn.content ?? ''
  const show = (shown: TemplateToolMessage) => tryRender(render, [user, shown, ...followedBy], { enableThinking: true })
  const rendered = show({ ...turn, reasoning_content: sentinels.thinking })
  const start = rendered?.indexOf(sentinels.thinking) ?? -1
  if (rendered === null || start === -1) return null
  const before = rendered.slice(0, start)
  const after = rendered.slice(start + sentinels.thinking.length)
  const open = beyondPrompt(findOpen(before, [prompt, show(turn), pastTurn(render)]), before, prompt)
  const close = findClose(after, before.slice(0, before.lastIndexOf(open)), show(turn), content)
  if (open !== '') return close === '' ? null : { open, close }
  return close === '' ? null : tagsWithoutOpen(before, close, { prompt, without: show(turn) })
}

type Others = { readonly prompt: string | null; readonly without: string | null }

/** The markers where nothing in front of the thinking tells its turn from others. */
function tagsWithoutOpen(before: string, close: string, { prompt, without }: Others): ThinkingTags | null {
  const shown = before.trimEnd()
  // A prompt that goes on from where the thinking begins has begun it in words of its own.
  const [tail = '', promptTail = ''] = [shown, prompt ?? ''].map((text) => text.slice(behindUser(text)))
  const begun = promptTail.startsWith(tail) ? promptTail.slice(tail.length).trim() : ''
  if (begun !== '') return { open: begun, close }
  // Where every other turn has an empty block, its opening marker is the last one in front of the thinking.
  const isEmptied = without?.slice(shown.length).trimStart().startsWith(close) ?? false
  return isEmptied ? { open: shown.slice(findMarkerStart(shown, shown.length - 1)), close } : null
}

/** An opening marker without what the prompt has written of it, such as the name of the role. */
function beyondPrompt(open: string, before: string, prompt: string | null): string {
  const [tail, promptTail] = [before, prompt ?? ''].map((text) => text.slice(behindUser(text)))
  if (tail === undefined || promptTail === undefined || !tail.startsWith(promptTail)) return open
  const written = tail.slice(promptTail.length).trim()
  return written !== '' && open.endsWith(written) ? written : open
}

/** A turn that a later one follows: most templates show no thinking there, not even an empty block. */
function pastTurn(render: RenderProbe): string | null {
  const past: TemplateToolMessage = { role: 'assistant', content: sentinels.text }
  return tryRender(render, [user, past, user], { enableThinking: true })
}

/** What stands before the thinking and not in a turn without any. */
function findOpen(before: string, others: readonly (string | null)[]): string {
  const tail = before.slice(behindUser(before))
  const candidates = others.map((other) => {
    const otherTail = (other ?? '').slice(behindUser(other ?? ''))
    const start = sharedStart(tail, otherTail)
    return start === tail.length ? '' : tail.slice(findMarkerStart(tail, start)).trim()
  })
  return candidates.filter((open) => open !== '').toSorted((a, b) => b.length - a.length)[0] ?? ''
}

/** What stands between the thinking and whatever the turn would have begun with. */
function findClose(after: string, header: string, without: string | null, content: string): string {
  const text = content === '' ? -1 : after.indexOf(content)
  const call = after.indexOf(sentinels.names[0])
  if (text !== -1 && (call === -1 || text < call)) return after.slice(0, text).trim()
  if (without === null || !without.startsWith(header)) return ''
  const rest = without.slice(header.length)
  return after.endsWith(rest) ? after.slice(0, after.length - rest.length).trim() : ''
}

/** Compares the prompts of a template that never shows thinking again: with thinking off, it closes what it else opens. */
function tagsOfPrompts(prompts: Prompts) {
  // The switch may change the system text as well, which says nothing about markers.
  const [on, off] = [prompts.on, prompts.off].map((prompt) => prompt?.split(sentinels.user).at(-1))
  if (on === undefined || off === undefined || on === off) return null
  const shown = on.trimEnd()
  if (!off.startsWith(shown)) {
    // The one prompt ends with the opening marker and the other with the closing one.
    const start = findMarkerStart(on, sharedStart(on, off))
    const [open, rest] = [on.slice(start).trim(), off.slice(start).trim()]
    const close = rest.startsWith(open) ? rest.slice(open.length).trim() : rest
    return isMarker(open) && isMarker(close) ? { open, close } : null
  }
  const added = off.slice(shown.length).trim()
  const pair = /^(\S+?)(?:\s+|(?<=[>\]])(?=[<[]))(\S+)$/u.exec(added)
  if (pair?.[1] !== undefined && pair[2] !== undefined) return { open: pair[1], close: pair[2] }
  const open = shown.slice(findMarkerStart(shown, shown.length - 1))
  return isMarker(added) && isMarker(open) ? { open, close: added } : null
}

/** A template that opens thinking in every prompt and shows none afterwards leaves its end to the model, and to custom. */
function tagsOfOpenPrompt(prompt: string | null) {
  const mark = /(?<left>[<[◁【«]\|?)(?<word>\w*(?:think|thought|reason)\w*)(?<right>\|?[>\]▷】»])$/iu
  const { left, word, right } = mark.exec(prompt?.trimEnd() ?? '')?.groups ?? {}
  if (left === undefined || word === undefined || right === undefined) return null
  return { open: left + word + right, close: `${left}/${word}${right}` }
}

function isMarker(text: string): boolean {
  return text !== '' && !/\s/u.test(text)
}

/** Where the first user turn's text ends; the beginning where there is none. */
function behindUser(rendered: string): number {
  const start = rendered.indexOf(sentinels.user)
  return start === -1 ? 0 : start + sentinels.user.length
}
