import type { Config } from '../../config/schema.ts'
import type { Progress } from '../../models/download/fetch-file.ts'
import { examineDatabase } from './examine-database.ts'
import { examineCacheFolder, examineCard, examineFolder, examineWeights } from './examine-machine.ts'
import { examineNetwork, type FindService } from './examine-network.ts'
import type { Finding } from './finding.ts'

type Means = {
  readonly findService: FindService
  /** Null where nobody watches. */
  readonly progress: Progress | null
}

/** Examines all that the service needs, in the order in which it needs it. Changes nothing, whether a service runs or not. */
export async function examine(config: Config, { findService, progress }: Means): Promise<readonly Finding[]> {
  return [
    ...examineFolder(config),
    ...(await examineDatabase(config)),
    ...(await examineWeights(config, progress)),
    ...examineCacheFolder(config),
    ...examineCard(config),
    ...(await examineNetwork(config, findService)),
  ]
}
