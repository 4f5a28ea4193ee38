import type { SettingsFile, SupportedClient } from '../../clients/client.ts'
import { keyToWrite, type Connection } from '../../clients/connection.ts'
import { tellPath } from '../../clients/describe-setup.ts'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  statSync,
  lstatSync,
  readFileSync,
  realpathSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { writeFileDurably } from '../../lib/write-file-durably.ts'
import {
  describePath,
  isTree,
  type Edit,
  type SettingsPath,
  applyEdits,
  planEdits,
} from '../../clients/settings/plan-edits.ts'
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../lib/message-of.ts'
import { renderNewFile } from '../../clients/settings/render.ts'
import { readJson, readYaml, type SettingsText } from '../../clients/settings/settings-text.ts'

type Planned = { readonly file: SettingsFile; readonly plan: FilePlan }

/** What will become of the client's files. Throws when one of them must not be touched. */
export function planSettings(client: SupportedClient, connection: Connection): Planned[] {
  const files = client.setUp(connection).parts.filter((part) => part.kind === 'file')
  if (files.length === 0) {
    throw new Error(
      `${client.title} has no settings file that could be written. Without --write its settings are printed.`,
    )
  }
  return files.map((file) => ({ file, plan: planFile(file) }))
}

/** Writes the client's files and tells what changed in them. They are read anew: the client may have written meanwhile. */
export function writeSettings(client: SupportedClient, connection: Connection): string {
  const told = planSettings(client, connection).map((planned) => writeOne(planned, connection))
  return told.join('\n\n')
}

function writeOne({ file, plan }: Planned, connection: Connection): string {
  const name = tellPath(file.path, connection.folders.home)
  if (plan.edits.length === 0) return `${name} says so already.`
  const key = keyToWrite(connection)
  const backup = writePlan(plan, plan.after.includes(key))
  const history = backup === null ? 'is new' : `is changed; the old one is ${tellPath(backup, connection.folders.home)}`
  return [`${name} ${history}`, ...describeEdits(plan.edits, key)].join('\n')
}

/** Writes a planned file in one step. Returns where the old one is kept, or null when there was none. */
export function writePlan({ path, before, after }: FilePlan, holdsKey: boolean): string | null {
  if (before === null) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileDurably(path, after)
    return null
  }
  const { mode } = statSync(path)
  const backup = freeBackupPath(path)
  copyFileSync(path, backup)
  writeFileDurably(path, after)
  // New files are for their owner alone. One without a key stays as open as it was.
  if (!holdsKey) chmodSync(path, mode)
  return backup
}

/** An earlier backup is the file from before any change of ours, and worth more than the newest one. */
function freeBackupPath(path: string): string {
  let backup = `${path}.bak`
  for (let count = 2; existsSync(backup); count += 1) backup = `${path}.bak${count}`
  return backup
}

/** The changes as a diff would show them, a line for each value, with no key readable. */
export function describeEdits(edits: readonly Edit[], key: string): string[] {
  return edits.flatMap(({ path, from, to }) => {
    const isSecret = JSON.stringify(to).includes(key)
    // What stood in the place of the key was a key too, of somebody else's.
    const removed = from === undefined ? [] : leavesOf(path, isSecret && !isTree(from) ? '…' : from)
    const added = leavesOf(path, to)
    return [
      ...removed.map(([where, value]) => `  - ${describePath(where)}: ${JSON.stringify(value)}`),
      ...added.map(([where, value]) => `  + ${describePath(where)}: ${JSON.stringify(hide(value, key))}`),
    ]
  })
}

type Leaf = readonly [path: SettingsPath, value: unknown]

/** Lists of plain values are told as one. */
function leavesOf(path: SettingsPath, value: unknown): Leaf[] {
  if (isTree(value)) return Object.entries(value).flatMap(([name, member]) => leavesOf([...path, name], member))
  if (Array.isArray(value) && value.some(isTree)) {
    return value.flatMap((item: unknown, index) => leavesOf([...path, index], item))
  }
  return [[path, value]]
}

function hide(value: unknown, key: string): unknown {
  return value === key ? `…${key.slice(-4)}` : value
}

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
