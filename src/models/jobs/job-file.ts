import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { modelIds } from '../../core/model.ts'
import { writeFileDurably } from '../../lib/write-file-durably.ts'

/** What is done for an operator in the background: weights are fetched, given to a model, or both. */
export const jobSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(['fetch', 'use']),
  /** Null where weights are only fetched. */
  model: z.enum(modelIds).nullable(),
  /** Where they come from, or which are used: a source, a name in the folder, or the words for the built-in ones. */
  source: z.string(),
  sha256: z.string().nullable(),
  state: z.enum(['under-way', 'done', 'failed', 'cancelled']),
  phase: z.enum(['waiting', 'fetching', 'checking', 'loading', 'over']),
  message: z.string(),
  startedAtMs: z.number(),
  endedAtMs: z.number().nullable(),
})

export type StoredJob = z.output<typeof jobSchema>

const fileName = 'weights-jobs.json'

/** Reads the jobs of before. A damaged file costs that nobody can look them up any more. */
export function readJobs(home: string): StoredJob[] {
  const path = join(home, fileName)
  if (!existsSync(path)) return []
  try {
    return z.array(jobSchema).parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return []
  }
}

export function writeJobs(home: string, jobs: readonly StoredJob[]): void {
  writeFileDurably(join(home, fileName), `${JSON.stringify(jobs, null, 2)}\n`)
}
