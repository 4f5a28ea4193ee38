import { sharedStart } from './compare-texts.ts'
import { channelsThinking, isChannels } from '../known/channels.ts'
import { callTurn, sentinelCalls, sentinels, tryRender, user } from './probes.ts'
import type { IdShape, RenderProbe, TemplateToolMessage } from './tool-format.ts'

export type ThinkingFormat = {
  /** Null where nothing shows how the model marks its thinking. */
  readonly tags: { readonly open: string; readonly close: string } | null
  /** With thinking on, a prompt ends inside an open block and the model goes on from there. */
  readonly promptOpens: boolean
  /** With thinking off, a prompt ends with a block that is already closed. */
  readonly promptCloses: boolean
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
  const isChanneled = prompts.unset !== null && isChannels(prompts.unset)
  const replayed = isChanneled ? null : tagsOfReplay(render, prompts.on)
  const tags = isChanneled ? channelsThinking : (replayed ?? tagsOfPrompts(prompts))
  const closed =
    tags === null ? null : new RegExp(`${RegExp.escape(tags.open)}\\s*${RegExp.escape(tags.close)}\\s*$`, 'u')
  const states = [prompts.on, prompts.off, prompts.unset]
  return {
    tags,
    promptOpens: tags !== null && (prompts.on?.trimEnd().endsWith(tags.open) ?? false),
    promptCloses: closed !== null && prompts.off !== null && closed.test(prompts.off),
    switchedBy:
      new Set(states).size > 1
        ? 'flag'
        : /\breasoning(?: effort)?: *(?:low|medium|high)\b/iu.test(prompts.unset ?? '')
          ? 'effort'
          : 'none',
    isReplayed: isChanneled || replayed !== null,
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
      if (tags !== null) return tags
    }
  }
  return null
}

type Probe = { readonly prompt: string | null; readonly ids: IdShape; readonly content: string }

function tagsOfTurn(render: RenderProbe, { prompt, ids, content }: Probe) {
  const [call] = sentinelCalls(ids)
  const turn = callTurn([call], 'object', content)
  const result: TemplateToolMessage = { role: 'tool', content: 'done', tool_call_id: call.id, name: call.name }
  const show = (shown: TemplateToolMessage) => tryRender(render, [user, shown, result], { enableThinking: true })
  const rendered = show({ ...turn, reasoning_content: sentinels.thinking })
  const start = rendered?.indexOf(sentinels.thinking) ?? -1
  if (rendered === null || start === -1) return null
  const before = rendered.slice(0, start)
  const after = rendered.slice(start + sentinels.thinking.length)
  const open = findOpen(before, [prompt, show(turn), pastTurn(render)])
  const close = findClose(after, before.slice(0, before.lastIndexOf(open)), show(turn), content)
  return open === '' || close === '' ? null : { open, close }
}

/** A turn that a later one follows: most templates show no thinking there, not even an empty block. */
function pastTurn(render: RenderProbe): string | null {
  const past: TemplateToolMessage = { role: 'assistant', content: sentinels.text }
  return tryRender(render, [user, past, user], { enableThinking: true })
}

/** What stands before the thinking and not in a turn without any. */
function findOpen(before: string, others: readonly (string | null)[]): string {
  const userEnd = before.lastIndexOf(sentinels.user) + sentinels.user.length
  const tail = before.slice(userEnd)
  const candidates = others.map((other) => {
    const start = other?.indexOf(sentinels.user) ?? -1
    const otherTail = start === -1 ? '' : (other ?? '').slice(start + sentinels.user.length)
    return tail.slice(sharedStart(tail, otherTail)).trim()
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

/** For templates that never show thinking again: the prompt with thinking off closes what the other one opens. */
function tagsOfPrompts(prompts: Prompts) {
  // The switch may change the system text as well, which says nothing about markers.
  const [on, off] = [prompts.on, prompts.off].map((prompt) => prompt?.split(sentinels.user).at(-1))
  if (on === undefined || off === undefined || on === off) return null
  const added = off.startsWith(on) ? off.slice(on.length).trim() : ''
  const pair = /^(\S+?)(?:\s+|(?<=[>\]])(?=[<[]))(\S+)$/u.exec(added)
  if (pair?.[1] !== undefined && pair[2] !== undefined) return { open: pair[1], close: pair[2] }
  // The opening marker begins as the closing one does.
  const start = on.lastIndexOf(added[0] ?? '\n')
  const open = on.slice(start).trim()
  return added === '' || start === -1 || /\s/u.test(open) ? null : { open, close: added }
}
