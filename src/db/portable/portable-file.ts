// A backup is a SQLite file with the newest schema, whichever database it was made of, and either can be made of it.

import { chmodSync, closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../lib/message-of.ts'
import { migrateSqlite } from '../open-sqlite.ts'
import { requireChecksum } from './checksum.ts'

export type TableShape = { readonly name: string; readonly columns: readonly string[] }

/** The product's tables, those that others refer to first. */
export function listTables(file: DatabaseSync): TableShape[] {
  const names = file
    .prepare(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'kysely\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .all()
    .map(({ name }) => String(name))
  const ordered: string[] = []
  const place = (name: string): void => {
    if (ordered.includes(name)) return
    for (const { table } of file.prepare(`PRAGMA foreign_key_list(${name})`).all()) {
      if (table !== name) place(String(table))
    }
    ordered.push(name)
  }
  names.forEach(place)
  return ordered.map((name) => ({ name, columns: columnsOf(file, name) }))
}

function columnsOf(file: DatabaseSync, table: string): string[] {
  return file
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => String(name))
}

/** Copies a database file, also one that is in use, into a single file of its own. */
export function copyFile(from: string, to: string): void {
  if (!existsSync(from)) throw new Error(`There is no file ${from}.`)
  const source = openToRead(from)
  try {
    source.prepare('VACUUM INTO ?').run(to)
  } catch (error) {
    rmSync(to, { force: true })
    throw new Error(`${from} cannot be read as a database: ${messageOf(error)}`, {
      cause: error,
    })
  } finally {
    source.close()
  }
}

/** Copies a backup, or a database file of the product's, to where it can be worked with, checks it and brings its schema up to date. */
export async function copyAndMigrate(from: string, to: string): Promise<void> {
  if (existsSync(from)) await requireChecksum(from)
  copyFile(from, to)
  try {
    checkFile(to)
    await migrateSqlite(to)
    finishFile(to)
  } catch (error) {
    removeFile(to)
    throw error
  }
}

/** Throws unless the file is whole, holds the product's tables, and all its references lead somewhere. */
export function checkFile(path: string): void {
  const file = openToRead(path)
  try {
    const [fault] = file.prepare('PRAGMA integrity_check').all()
    if (fault?.['integrity_check'] !== 'ok')
      throw new Error(`${path} is damaged: ${String(fault?.['integrity_check'])}`)
    if (!listTables(file).some(({ name }) => name === 'ledger')) throw new Error(`${path} is no database of Odyssey's.`)
    if (file.prepare('PRAGMA foreign_key_check').all().length > 0)
      throw new Error(`${path} has rows that refer to none.`)
  } finally {
    file.close()
  }
}

/** Makes it one file, without the journal beside it, that outlasts a power cut. */
export function finishFile(path: string): void {
  const file = new DatabaseSync(path)
  file.exec('PRAGMA journal_mode = DELETE')
  file.close()
  // It holds hashes of keys and everybody's usage.
  chmodSync(path, 0o600)
  const handle = openSync(path, 'r+')
  fsyncSync(handle)
  closeSync(handle)
}

export function removeFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}

/** How many rows each table has. */
export function countRows(path: string): Map<string, number> {
  const file = openToRead(path)
  try {
    return new Map(
      listTables(file).map(({ name }) => [
        name,
        Number(file.prepare(`SELECT count(*) AS count FROM ${name}`).get()?.['count']),
      ]),
    )
  } finally {
    file.close()
  }
}

export function openToRead(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
}
