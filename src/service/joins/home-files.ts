import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const names = [
  'audit-anchors.jsonl',
  'audit-checkpoints.txt',
  'audit-signing.key',
  'audit-signing.previous.key',
  'database',
  'first-api-key',
  'last-backup',
  'models.json',
  'models.lock',
  'odyssey.db',
  'secret.key',
  'serve.lock',
  'service.json',
  'settings-last-run.json',
  'weights-digests.json',
  'weights-jobs.json',
]

/** What is written beside a file: SQLite's own, new content before it takes the file's place, and a database set aside. */
const beside =
  /^(?:-journal|-wal|-shm|\.new|\.[0-9a-f]{12}|\.restoring(?:-journal|-wal|-shm)?|\.replaced-[\dTZ.-]+(?:-wal|-shm)?)?$/

/** A file that the product writes into the data folder itself. Whatever else lies there belongs to whoever put it there. */
type HomeFile = { readonly path: string; readonly mode: number }

/** Those of the product's files in the data folder that others than their owner may use in some way. */
export function listOpenFiles(home: string): HomeFile[] {
  return readdirSync(home)
    .filter(isWrittenByProduct)
    .flatMap((name) => {
      const path = join(home, name)
      const file = lstatSync(path, { throwIfNoEntry: false })
      return file?.isFile() === true && (file.mode & 0o077) !== 0 ? [{ path, mode: file.mode }] : []
    })
}

function isWrittenByProduct(name: string): boolean {
  return names.some((own) => name.startsWith(own) && beside.test(name.slice(own.length)))
}
