import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TurnBody } from './cache-hits.ts'
import { readRecordings } from './recording.ts'

/** What Claude Code sent, recorded outside the repository. */
const folder = join(import.meta.dirname, '../../../shared/clients/claude-code')

export const missing = existsSync(folder) ? false : `There is no ${folder}.`

/** The requests of conversations of several turns, by the start of their file names. */
const conversations = {
  'a search for tools': ['018', '019', '020'],
  'a search of the web': ['048', '049', '051', '052'],
  'tools at once': ['043', '044'],
} as const

type Name = keyof typeof conversations

export const recordedNames = Object.keys(conversations) as Name[]

/** The turns of one of them; texts are cut to a length, where one is given. */
export function recordedConversation(name: Name, textLengthMax = Infinity): TurnBody[] {
  const recordings = readRecordings(folder)
  return conversations[name].map((number) => {
    const recording = recordings.find(({ file }) => file.startsWith(number))
    const cut = (_key: string, value: unknown) => (typeof value === 'string' ? value.slice(0, textLengthMax) : value)
    const body = JSON.parse(JSON.stringify(recording?.body), cut) as TurnBody
    // The first block was an attribution, of which the recording has kept the length alone.
    return { ...body, system: body.system.slice(1) }
  })
}
