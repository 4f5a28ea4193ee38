import { findSeam, sharedStart } from './compare-texts.ts'
import { sentinels, tryRender, user } from './probes.ts'
import type { RenderProbe } from './tool-format.ts'

/** What stands around an assistant's plain text when it is the last turn. */
export type TurnFrame = { readonly before: string; readonly after: string }

export function findTurnFrame(render: RenderProbe): TurnFrame | null {
  const plain = tryRender(render, [user, { role: 'assistant', content: sentinels.text }])
  const start = plain?.lastIndexOf(sentinels.text) ?? -1
  if (plain === null || start === -1) return null
  return { before: plain.slice(0, start), after: plain.slice(start + sentinels.text.length) }
}

export type CallRegion = { readonly text: string; readonly endsTurn: boolean }

/** The part of a rendered conversation that a turn with calls has in the place of plain text. */
export function cutCallRegion(frame: TurnFrame, rendered: string): CallRegion | null {
  let start = sharedStart(frame.before, rendered)
  if (start < frame.before.length) start = findSeam(rendered, Math.max(0, start - 24), start)
  const userEnd = rendered.lastIndexOf(sentinels.user) + sentinels.user.length
  if (start < userEnd) start = userEnd
  const endsTurn = frame.after !== '' && rendered.endsWith(frame.after)
  const end = rendered.length - (endsTurn ? frame.after.length : 0)
  return end < start ? null : { text: rendered.slice(start, end), endsTurn }
}
