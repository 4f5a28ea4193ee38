import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { chosenWeightsSchema } from '../../config/weights-map.ts'
import { modelIds } from '../../core/model.ts'
import { writeFileDurably } from '../../lib/write-file-durably.ts'

// How a command asks the running service for other weights: by a file in the data folder,
// which whoever may write there may anyway replace all that is served. The answer is in
// the status file.

const schema = z.strictObject({
  id: z.string(),
  model: z.enum(modelIds),
  chosen: chosenWeightsSchema.nullable(),
})

export type SwapRequest = z.output<typeof schema>

const fileName = 'swap-request.json'

export function writeSwapRequest(home: string, request: SwapRequest): void {
  writeFileDurably(join(home, fileName), JSON.stringify(request))
}

/** Takes a request that nobody has taken yet. Throws for one that cannot be understood, which is then gone too. */
export function takeSwapRequest(home: string): SwapRequest | null {
  const path = join(home, fileName)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return null
  }
  rmSync(path, { force: true })
  return schema.parse(JSON.parse(text))
}

/** Takes back a request. The service may have taken it already. */
export function withdrawSwapRequest(home: string): void {
  rmSync(join(home, fileName), { force: true })
}
