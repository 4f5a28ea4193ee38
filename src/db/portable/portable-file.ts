// A backup is a SQLite file with the newest schema, whichever database it was made of, and either can be made of it.

import { chmodSync, closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../lib/message-of.ts'
import { migrateSqlite } from '../open-sqlite.ts'
import { isWriteFault } from '../sqlite-errors.ts'
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

/**
 * Copies a database file, also one that is in use, into a single file of its own, which may be there already and is
 * empty then. What is wrong with the disk of the copy is thrown as it is: its caller knows what the copy is for.
 */
export function copyFile(from: string, to: string): void {
  requireFile(from)
  try {
    const source = openToRead(from)
    try {
      source.prepare('VACUUM INTO ?').run(to)
    } finally {
      source.close()
    }
  } catch (error) {
    rmSync(to, { force: true })
    if (isWriteFault(error)) throw error
    throw new Error(`${from} cannot be read as a database: ${messageOf(error)}`, { cause: error })
  }
}

function requireFile(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new Error(`There is no file ${path}.`)
  if (!stats.isFile()) throw new Error(`${path} is not a file.`)
}

/** Copies a backup, or a database file of the product's, to where it can be worked with, checks it and brings its schema up to date. */
export async function copyAndMigrate(from: string, to: string): Promise<void> {
  requireFile(from)
  await requireChecksum(from)
  try {
    copyFile(from, to)
    checkFile(to, from)
    await migrateSqlite(to)
    finishFile(to)
  } catch (error) {
    removeFile(to)
    if (!isWriteFault(error)) throw error
    throw new Error(`${dirname(to)} cannot take a copy of ${from}: ${messageOf(error)}.`, { cause: error })
  }
}

/**
 * Throws unless the file is whole, holds the product's tables, and all its references lead somewhere. It is told by the
 * name of what it was copied from.
 */
export function checkFile(path: string, name: string): void {
  const file = openToRead(path)
  try {
    const [fault] = file.prepare('PRAGMA integrity_check').all()
    if (fault?.['integrity_check'] !== 'ok')
      throw new Error(`${name} is damaged: ${String(fault?.['integrity_check'])}`)
    if (!listTables(file).some(({ name }) => name === 'ledger')) throw new Error(`${name} is no database of Odyssey's.`)
    if (file.prepare('PRAGMA foreign_key_check').all().length > 0)
      throw new Error(`${name} has rows that refer to none.`)
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
