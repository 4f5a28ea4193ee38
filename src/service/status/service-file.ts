import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { writeFileDurably } from '../../lib/write-file-durably.ts'

const schema = z.object({
  pid: z.number(),
  /** Where clients reach it. */
  address: z.string(),
  /** Where this machine's commands reach it, and with which key. */
  operator: z.object({ address: z.string(), key: z.string() }),
})

/** How the commands of this machine find the service that runs on a data folder. */
export type ServiceFile = z.output<typeof schema>

const fileName = 'service.json'

/** Writes the file for the service's user alone: its key does whatever the operator may do. */
export function writeServiceFile(home: string, service: ServiceFile): void {
  writeFileDurably(join(home, fileName), `${JSON.stringify(service, null, 2)}\n`)
}

export function removeServiceFile(home: string): void {
  rmSync(join(home, fileName), { force: true })
}

/** Null when there is none, or when the process that wrote it is gone: a killed service leaves its file behind. */
export function readServiceFile(home: string): ServiceFile | null {
  try {
    const service = schema.parse(JSON.parse(readFileSync(join(home, fileName), 'utf8')))
    // Signal 0 asks only whether the process exists.
    process.kill(service.pid, 0)
    return service
  } catch {
    return null
  }
}
