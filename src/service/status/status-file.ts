import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const schema = z.object({
  pid: z.number(),
  address: z.string(),
  models: z.array(
    z.object({
      id: z.string(),
      weights: z.string(),
      weightsBytes: z.number(),
      isBuiltIn: z.boolean(),
      state: z.string(),
      windowTokens: z.number(),
      slots: z.number().nullable(),
      enginePid: z.number().nullable(),
      /** Why it is not ready. */
      reason: z.string().nullable().default(null),
    }),
  ),
  /** One for each loaded file, whatever the number of models it answers for. */
  queues: z.array(
    z.object({
      models: z.array(z.string()),
      slots: z.number(),
      running: z.number(),
      waiting: z.number(),
      oldestWaitMs: z.number(),
      upcoming: z.array(
        z.object({
          position: z.number(),
          requestId: z.string(),
          model: z.string(),
          organizationId: z.string(),
          apiKeyId: z.string(),
          inputTokens: z.number().nullable(),
          waitedMs: z.number(),
        }),
      ),
    }),
  ),
  /** What has become of the last request for other weights. */
  swap: z
    .object({
      requestId: z.string(),
      state: z.enum(['under-way', 'done', 'refused']),
      message: z.string(),
    })
    .nullable(),
})

/** What a running service says of itself to the operator's commands. It names weights, so it never leaves the machine. */
export type ServiceStatus = z.output<typeof schema>

const fileName = 'status.json'

export function writeStatus(home: string, status: ServiceStatus): void {
  const path = join(home, fileName)
  writeFileSync(`${path}.new`, `${JSON.stringify(status, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

export function removeStatus(home: string): void {
  rmSync(join(home, fileName), { force: true })
}

/** The status of the service that runs on this data folder, or null when none does. */
export function readStatus(home: string): ServiceStatus | null {
  try {
    const status = schema.parse(JSON.parse(readFileSync(join(home, fileName), 'utf8')))
    // Signal 0 asks only whether the process exists: a killed service leaves its file behind.
    process.kill(status.pid, 0)
    return status
  } catch {
    return null
  }
}
