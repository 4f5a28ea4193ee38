import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { modelIds, type ModelId } from '../core/model.ts'
import { writeFileDurably } from '../lib/write-file-durably.ts'

export const chosenWeightsSchema = z.strictObject({
  /** A GGUF file; a relative path counts from the data folder, so that the folder can be moved. */
  weights: z.string().min(1),
  /** Where it was fetched from; null for a file that the operator brought. */
  source: z.string().nullable().default(null),
  sha256: z.string().nullable().default(null),
})

const schema = z.partialRecord(z.enum(modelIds), chosenWeightsSchema)

/** Which weights the operator's commands chose for which model; a model without an entry runs what comes with Odyssey. */
export type WeightsMap = Readonly<Partial<Record<ModelId, ChosenWeights>>>
/** `weights` is an absolute path. */
export type ChosenWeights = z.output<typeof chosenWeightsSchema>

const fileName = 'models.json'

/** Throws when the file is damaged: going on without it would swap weights in silence. */
export function readWeightsMap(home: string): WeightsMap {
  const path = join(home, fileName)
  if (!existsSync(path)) return {}
  const map = schema.parse(JSON.parse(readFileSync(path, 'utf8')))
  return mapEntries(map, (chosen) => ({ ...chosen, weights: resolve(home, chosen.weights) }))
}

/**
 * Writes one model's choice so that it outlasts a power cut; null takes the choice back. What others have chosen is the same
 * from then on where it is the same file.
 */
export function writeChosenWeights(home: string, id: ModelId, chosen: ChosenWeights | null): void {
  const { [id]: _, ...others } = readWeightsMap(home)
  const isSameFile = ({ weights }: ChosenWeights) => weights === chosen?.weights
  const kept = mapEntries(others, (other) => (chosen !== null && isSameFile(other) ? chosen : other))
  const map = chosen === null ? others : { ...kept, [id]: chosen }
  const written = mapEntries(map, ({ weights, ...rest }) => ({ weights: fromHome(home, weights), ...rest }))
  writeFileDurably(join(home, fileName), `${JSON.stringify(written, null, 2)}\n`)
}

function fromHome(home: string, path: string): string {
  const way = relative(home, path)
  const isInside = way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
  return isInside ? way : path
}

function mapEntries(map: WeightsMap, change: (chosen: ChosenWeights) => ChosenWeights): WeightsMap {
  return Object.fromEntries(Object.entries(map).map(([id, chosen]) => [id, change(chosen)]))
}
