import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../../lib/message-of.ts'
import type { SettingsFile } from '../clients/client.ts'
import { readJson } from './edit-json.ts'
import { readYaml } from './edit-yaml.ts'
import { applyEdits, planEdits, type Edit } from './plan-edits.ts'
import { renderNewFile } from './render.ts'
import type { SettingsText } from './settings-text.ts'

export type FilePlan = {
  /** Where the text really lies, if what the client reads is a link. */
  readonly path: string
  /** Null when there is no such file yet. */
  readonly before: string | null
  readonly after: string
  /** None when the file says already what it should. */
  readonly edits: readonly Edit[]
}

/** Reads a settings file and says what it will be. Touches nothing; throws when it cannot be changed safely. */
export function planFile(file: SettingsFile): FilePlan {
  const path = realPathOf(file.path)
  const before = readIfThere(path)
  if (before === null) {
    return { path, before, after: renderNewFile(file), edits: planEdits({}, file.settings, file.defaults) }
  }
  try {
    const text = readText(before, file.syntax)
    const edits = planEdits(text.value, file.settings, file.defaults)
    const after = edits.length === 0 ? before : text.edit(edits)
    check(after, file.syntax, applyEdits(text.value, edits))
    return { path, before, after, edits }
  } catch (error) {
    throw new Error(`${file.path} is left as it is: ${reasonOf(error, file.syntax)}`, { cause: error })
  }
}

function readText(text: string, syntax: SettingsFile['syntax']): SettingsText {
  const mark = text.startsWith('\u{FEFF}') ? '\u{FEFF}' : ''
  const read = syntax === 'yaml' ? readYaml(text.slice(mark.length)) : readJson(text.slice(mark.length), syntax)
  return { value: read.value, edit: (edits) => `${mark}${read.edit(edits)}` }
}

/**
 * A name that stands twice in an object, an anchor that is used elsewhere: then a text
 * may say something else than the edit meant. Nobody should find that out later.
 */
function check(after: string, syntax: SettingsFile['syntax'], expected: unknown): void {
  if (!isDeepStrictEqual(readText(after, syntax).value, expected)) {
    throw new Error('a name stands in it twice, or one value in two places')
  }
}

const languages = { json: 'JSON', jsonc: 'JSON', yaml: 'YAML' } as const

function reasonOf(error: unknown, syntax: SettingsFile['syntax']): string {
  if (error instanceof SyntaxError) return `it is not valid ${languages[syntax]} (${error.message}).`
  return `${messageOf(error)}.`
}

/** People keep settings under version control and link to them; the link must stay one. */
function realPathOf(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  return isLink ? realpathSync(path) : path
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
