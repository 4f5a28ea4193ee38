// What LiteLLM keeps in its database, as far as there is something here that stands for it: read from the database
// itself, or from a folder with a file for each table, `LiteLLM_TeamTable.json`, `.jsonl` or `.csv`.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readCsv } from '../../lib/csv.ts'
import { messageOf } from '../../lib/message-of.ts'

/** In CSV, nothing is what null is elsewhere. */
const nullIfBlank = (value: unknown) => (value === undefined || value === '' ? null : value)
const text = z.preprocess(nullIfBlank, z.string().nullable())
const number = z.preprocess(nullIfBlank, z.coerce.number().nullable())
const flag = z.preprocess((value) => value === true || value === 't' || value === 'true', z.boolean())
const list = z.preprocess(toList, z.array(z.string()))
const fields = z.preprocess(toFields, z.record(z.string(), z.unknown()))
const moment = z.preprocess(toMoment, z.int().nullable())

const limits = { tpm_limit: number, rpm_limit: number, max_parallel_requests: number }
const budget = { max_budget: number, soft_budget: number, budget_duration: text, model_max_budget: fields }

/** The tables that are read, and the columns of each. What others there are is left out. */
const shapes = {
  LiteLLM_OrganizationTable: z.object({
    organization_id: z.string(),
    organization_alias: text,
    budget_id: text,
    models: list,
    spend: number,
  }),
  LiteLLM_TeamTable: z.object({
    team_id: z.string(),
    team_alias: text,
    organization_id: text,
    models: list,
    blocked: flag,
    spend: number,
    metadata: fields,
    ...limits,
    ...budget,
  }),
  LiteLLM_ProjectTable: z.object({
    project_id: z.string(),
    project_alias: text,
    team_id: text,
    budget_id: text,
    models: list,
    blocked: flag,
    spend: number,
    model_rpm_limit: fields,
    model_tpm_limit: fields,
  }),
  LiteLLM_VerificationToken: z.object({
    token: z.string(),
    key_name: text,
    key_alias: text,
    expires: moment,
    models: list,
    aliases: fields,
    user_id: text,
    team_id: text,
    project_id: text,
    organization_id: text,
    budget_id: text,
    blocked: flag,
    spend: number,
    metadata: fields,
    allowed_routes: list,
    ...limits,
    ...budget,
  }),
  LiteLLM_BudgetTable: z.object({ budget_id: z.string(), ...limits, ...budget }),
  LiteLLM_ProxyModelTable: z.object({ model_name: z.string(), model_info: fields }),
  LiteLLM_UserTable: z.object({ user_id: z.string(), user_email: text, ...limits, ...budget }),
  LiteLLM_TeamMembership: z.object({ user_id: z.string(), team_id: z.string(), budget_id: text }),
  LiteLLM_EndUserTable: z.object({ user_id: z.string(), budget_id: text, blocked: flag }),
}

type Shapes = typeof shapes
export type TableName = keyof Shapes
export type LiteLlmTables = { readonly [Name in TableName]: readonly z.output<Shapes[Name]>[] }
export type LiteLlmRow<Name extends TableName> = z.output<Shapes[Name]>

const tableNames = Object.keys(shapes) as TableName[]

/** Throws for a folder without keys, and for a file or a row that cannot be read: a part alone would mislead. */
export function readExportFolder(folder: string): LiteLlmTables {
  const tables = readTables((table) => readFile(folder, table))
  if (tables.LiteLLM_VerificationToken.length > 0) return tables
  throw new Error(
    `${folder} has no keys: it needs LiteLLM_VerificationToken.json, .jsonl or .csv, as the guide on moving here says.`,
  )
}

/** Reads a database of LiteLLM's as it is at one moment, and changes nothing in it. */
export async function readLiteLlmDatabase(url: string): Promise<LiteLlmTables> {
  const { Client } = (await import('pg')).default
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 60_000 })
  await client.connect()
  try {
    await client.query('begin transaction isolation level repeatable read read only')
    const found = new Map<TableName, readonly unknown[]>()
    for (const table of tableNames) {
      const { rows: known } = await client.query<{ known: boolean }>('select to_regclass($1) is not null as known', [
        `"${table}"`,
      ])
      // Earlier versions do not have all of them.
      if (known[0]?.known !== true) continue
      const { rows } = await client.query<{ row: unknown }>(`select to_jsonb(t) as row from "${table}" t`)
      found.set(
        table,
        rows.map(({ row }) => row),
      )
    }
    if (!found.has('LiteLLM_VerificationToken')) throw new Error('The database has no tables of LiteLLM’s.')
    return readTables((table) => found.get(table) ?? [])
  } finally {
    await client.end()
  }
}

function readTables(rowsOf: (table: TableName) => readonly unknown[]): LiteLlmTables {
  const entries = tableNames.map((table) => {
    const rows = rowsOf(table).map((row, index) => {
      const { data, error } = shapes[table].safeParse(row)
      if (error === undefined) return data
      const [issue] = error.issues
      throw new Error(`${table}, row ${index + 1}: ${issue?.path.join('.') || 'the row'} cannot be read.`)
    })
    return [table, rows]
  })
  return Object.fromEntries(entries) as LiteLlmTables
}

function readFile(folder: string, table: TableName): readonly unknown[] {
  for (const [ending, read] of Object.entries(readers)) {
    const path = join(folder, `${table}.${ending}`)
    if (!existsSync(path)) continue
    try {
      return read(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
    } catch (error) {
      throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error })
    }
  }
  return []
}

const readers: Readonly<Record<string, (content: string) => readonly unknown[]>> = {
  // PostgreSQL's json_agg writes null where a table has no rows.
  json: (content) => z.array(z.unknown()).nullable().parse(JSON.parse(content)) ?? [],
  jsonl: (content) =>
    content
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as unknown),
  csv: (content) => {
    const [head = [], ...rows] = readCsv(content)
    return rows.map((row) => {
      if (row.length !== head.length) throw new Error(`a row has ${row.length} cells and the first has ${head.length}.`)
      return Object.fromEntries(head.map((name, at) => [name, row[at]]))
    })
  },
}

/** A list as JSON has it, or as PostgreSQL writes its arrays: `{gpt-4o,"a b"}`. */
function toList(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return []
  if (typeof value !== 'string') return value
  if (value.startsWith('[')) return fromJson(value)
  if (!/^\{[^]*\}$/.test(value)) return value
  return [...value.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/g)].map(([plain, quoted]) =>
    quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, '$1'),
  )
}

function toFields(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return {}
  const found = typeof value === 'string' ? fromJson(value) : value
  return found === null || Array.isArray(found) ? {} : found
}

/** What is no JSON is left as it is, and refused as what it is not. */
function fromJson(value: string): unknown {
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

/** LiteLLM's times have no zone and are in UTC. */
function toMoment(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string') return value
  const [, day, time = '00:00:00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ]([\d:.]+))?(Z|[+-]\d\d(?::?\d\d)?)?$/.exec(value) ?? []
  if (day === undefined) return value
  return Date.parse(`${day}T${time}${/^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone}`)
}
