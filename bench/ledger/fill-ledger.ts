import { sql } from 'kysely'
import { isPostgres } from '../../src/db/is-postgres.ts'
import type { Database } from '../../src/db/database.ts'

export const organizationCount = 20
export const dayMs = 86_400_000
export const days = 90
/** The first organization has every second request, the others share the rest. */
export const keysOfOrganization = 50

const rowsPerStatement = 20_000

export type Filling = {
  /** The number of the first row, for every value is made from a row's number. */
  readonly firstNumber: number
  readonly rows: number
  readonly firstMs: number
  readonly spanMs: number
}

/** Fills the ledger with requests in their order, evenly over a time. */
export async function fillLedger(db: Database, { firstNumber, rows, firstMs, spanMs }: Filling): Promise<void> {
  const stepMs = spanMs / rows
  for (let done = 0; done < rows; done += rowsPerStatement) {
    const last = Math.min(rows, done + rowsPerStatement)
    await db.transaction().execute(async (change) => {
      // A statement that fills takes longer than any that serves may.
      if (isPostgres(db)) await sql`set local statement_timeout = 0`.execute(change)
      await insertRange(change, { firstNumber, done, last, firstMs, stepMs })
    })
  }
}

type Range = Pick<Filling, 'firstNumber' | 'firstMs'> & {
  readonly done: number
  readonly last: number
  readonly stepMs: number
}

async function insertRange(db: Database, { firstNumber, done, last, firstMs, stepMs }: Range): Promise<void> {
  const scattered = (factor: number, modulus: number) => sql`((i * ${sql.lit(factor)}) % ${sql.lit(modulus)})`
  const organization = sql`(case when i % 2 = 0 then 1 else 2 + ${scattered(7919, organizationCount - 1)} end)`
  const key = scattered(104_729, keysOfOrganization)
  await sql`
    with recursive numbers(i) as (
      select cast(${sql.lit(firstNumber + done)} as bigint)
      union all select i + 1 from numbers where i + 1 < ${sql.lit(firstNumber + last)}
    )
    insert into ledger (request_id, kind, at, admitted_at, organization_id, project_id, api_key_id, model, outcome,
      input_uncached, input_cache_read, input_cache_write, input_cache_write_long, output, output_thinking,
      price_id, cost_micros, duration_ms, body_hash)
    select 'req_' || ${scattered(48_271, 2_147_483_647)} || '_' || i, 'charge',
      ${sql.lit(firstMs)} + cast((i - ${sql.lit(firstNumber)}) * ${sql.lit(stepMs)} as bigint), null,
      'org_' || ${organization}, 'proj_' || ${organization} || '_' || (${key} % 5),
      'key_' || ${organization} || '_' || ${key},
      case ${scattered(31, 3)} when 0 then 'clarke-1.0' when 1 then 'hal-1.0' else 'tycho-1.0' end,
      case when ${scattered(17, 20)} = 0 then 'aborted' else 'finished' end,
      ${scattered(6_007, 9_000)}, ${scattered(7_001, 30_000)}, 0, 0, ${scattered(5_003, 2_000)}, 0,
      'price_bench', ${scattered(3_001, 90_000)}, ${scattered(2_003, 20_000)},
      'body_' || ${scattered(48_271, 2_147_483_647)} || '_' || i
    from numbers`.execute(db)
}
