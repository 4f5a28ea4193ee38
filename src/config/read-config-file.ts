import { readFileSync, statSync } from 'node:fs'
import { codeOf, messageOf } from '../lib/message-of.ts'
import { ConfigError } from './config-error.ts'

/** A config file has some thousand characters; what is a thousand times as large is something else. */
const bytesMax = 4 * 1024 * 1024

/** What the file says, as JSON; nothing where it may be missing and is. Throws a ConfigError that says what to change. */
export function readConfigFile(path: string, mustExist: boolean): Record<string, unknown> {
  const bytes = readBytes(path)
  if (bytes === null && !mustExist) return {}
  if (bytes === null) throw new ConfigError([`There is no config file at ${path}.`])
  const text = decode(path, bytes)
  if (text.trim() === '') throw new ConfigError([`${path} is empty. A config file without settings holds {}.`])
  const written = parse(path, text)
  if (typeof written === 'object' && written !== null && !Array.isArray(written)) return { ...written }
  throw new ConfigError([`${path} must hold a JSON object, which begins with { and ends with }.`])
}

/** Null where there is nothing of that name. */
function readBytes(path: string): Uint8Array | null {
  try {
    const found = statSync(path)
    if (found.isDirectory()) throw new ConfigError([`${path} is a folder, and must be a file.`])
    // A pipe is as good, as a shell makes one of a command's output; a device may never end.
    if (!found.isFile() && !found.isFIFO()) throw new ConfigError([`${path} is no file.`])
    if (found.size > bytesMax) throw new ConfigError([`${path} is too large for a config file.`])
    return readFileSync(path)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const code = codeOf(error) ?? ''
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    const reason = code === 'EACCES' || code === 'EPERM' ? 'this user may not read it' : messageOf(error)
    throw new ConfigError([`${path} cannot be read: ${reason}.`])
  }
}

/** Editors of some systems begin a text with a mark of its encoding, which the decoder takes away. */
function decode(path: string, bytes: Uint8Array): string {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new ConfigError([`${path} is written in UTF-16. Save it as UTF-8.`])
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // Told below, as for every other thing that is no text.
  }
  throw new ConfigError([`${path} is no text in UTF-8, so it is no config file.`])
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = messageOf(error).replace(/ is not valid JSON$/, '')
    throw new ConfigError([`${path} is not valid JSON: ${reason}.`])
  }
}
