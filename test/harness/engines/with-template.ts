import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placeholderPath } from './placeholder-path.ts'

const key = Buffer.from('tokenizer.chat_template')
/** The kind of a value and its length stand between its key and the text. */
const kindBytes = 4
const lengthBytes = 8

/**
 * The placeholder weights with another chat template, in a folder of their own that goes when the process ends.
 *
 * The new template takes the place of the old one byte by byte, filled up with a comment, so that no tensor moves.
 */
export function weightsWithTemplate(template: string): string {
  const file = readFileSync(placeholderPath)
  const start = file.indexOf(key) + key.length + kindBytes + lengthBytes
  const length = Number(file.readBigUInt64LE(start - lengthBytes))
  const [open, close] = ['{#', '#}']
  const free = length - Buffer.byteLength(template) - open.length - close.length
  if (free < 0) throw new Error(`The template is longer than ${length} bytes.`)
  file.write(template + open + ' '.repeat(free) + close, start)
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'weights.gguf')
  writeFileSync(path, file)
  return path
}
