import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import { modelIdsByStrength } from '../../core/model.ts'
import { describeServedModel } from '../../models/served-models.ts'
import type { LoadedWeights } from '../../http/api/engine-schemas.ts'
import type { OfferedModel } from '../../clients/connection.ts'
import { UsageError } from '../usage-error.ts'

/** The models as this machine's service offers them with these weights, or without any when it does not run; the strongest first. */
export function modelsOfService(config: Config, weights: readonly LoadedWeights[]): OfferedModel[] {
  return modelIdsByStrength.map((id) => {
    const model = describeServedModel(id, config.models[id])
    const loaded = weights.find((entry) => entry.model === id)
    // The small window of what comes with Odyssey would stay in the settings when other weights have taken its place.
    return loaded === undefined || loaded.isBuiltIn ? model : withWindow(model, loaded.windowTokens)
  })
}

const listSchema = z.object({
  data: z.array(z.object({ id: z.string(), max_input_tokens: z.number(), max_tokens: z.number() })),
})

/** Long enough for an address on the other side of the world. */
const listMsMax = 10_000

/** The same models with the sizes that the service at an address tells; as they were where it tells none. */
export async function withSizesAt(models: OfferedModel[], address: string, key: string): Promise<OfferedModel[]> {
  try {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${address}/v1/models`, { headers, signal: AbortSignal.timeout(listMsMax) })
    const { data } = listSchema.parse(await response.json())
    return models.map((model) => {
      const told = data.find(({ id }) => id === model.id)
      if (told === undefined) return model
      return { ...model, windowTokens: told.max_input_tokens, outputTokensMax: told.max_tokens }
    })
  } catch {
    // Whatever is wrong with the address or the key, the proof says it better.
    return models
  }
}

function withWindow(model: OfferedModel, windowTokens: number): OfferedModel {
  return { ...model, windowTokens, outputTokensMax: Math.min(model.outputTokensMax, windowTokens) }
}

/** The address that clients are given: the one named, that of the running service, or that of the next one. */
export function resolveAddress(given: string | undefined, config: Config, running: string | null): string {
  if (given !== undefined) return readAddress(given)
  if (running !== null) return reachable(new URL(running))
  if (config.port === 0) {
    throw new UsageError('The service does not run, and its port is chosen when it starts. Name it with --base-url.')
  }
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  return reachable(new URL(`http://${host}:${config.port}`))
}

/** Takes an address with `/v1` as well: each client gets it in its own form anyway. */
function readAddress(text: string): string {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`--base-url takes an address like http://127.0.0.1:8080, and not ${text}.`)
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('--base-url takes an address without a user name, a query or a fragment.')
  }
  // The address goes into code and commands, between quotation marks of several kinds.
  if (!/^[\w./~%-]*$/.test(url.pathname)) throw new UsageError('--base-url has a path that no client would take.')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/** A service that listens on every address of its machine is reached by none of these names. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': 'localhost' }

function reachable(url: URL): string {
  url.hostname = everywhere[url.hostname] ?? url.hostname
  return url.origin
}
