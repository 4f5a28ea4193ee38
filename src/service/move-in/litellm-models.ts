import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { findEquivalent } from '../../core/model-equivalents.ts'
import { modelIds, type ModelId } from '../../core/model.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { LiteLlmTables } from './litellm-tables.ts'

/** What is read of LiteLLM's `config.yaml`. */
export type LiteLlmConfig = {
  readonly models: readonly { readonly name: string; readonly groups: readonly string[] }[]
  /** Settings that have something here that stands for them, set by hand: their names, with where. */
  readonly byHand: readonly string[]
}

const names = z.record(z.string(), z.unknown()).nullish()
const schema = z.object({
  model_list: z
    .array(
      z.object({
        model_name: z.string(),
        model_info: z.object({ access_groups: z.array(z.string()).nullish() }).nullish(),
        litellm_params: z.object({ rpm: z.unknown(), tpm: z.unknown() }).partial().nullish(),
      }),
    )
    .nullish(),
  general_settings: names,
  litellm_settings: names,
  router_settings: names,
})

/** What becomes of settings that are no rows of the database. */
const settings: readonly (readonly [
  section: 'general_settings' | 'litellm_settings' | 'router_settings',
  name: string,
  here: string,
])[] = [
  ['general_settings', 'master_key', 'make a management key: odyssey management-keys create'],
  ['general_settings', 'allowed_ips', 'confine keys to addresses: odyssey keys update ID --addresses LIST'],
  ['general_settings', 'max_parallel_requests', 'set limits.concurrentRequestsPerKeyMax, or --concurrency of a limit'],
  ['general_settings', 'alerting', 'make a channel: odyssey alerts create'],
  ['litellm_settings', 'max_budget', 'a budget of everything is one of an organization: odyssey budgets set'],
  [
    'litellm_settings',
    'default_team_settings',
    'what it logs to is not here; limits of new organizations are those of a tier',
  ],
  ['litellm_settings', 'upperbound_key_generate_params', 'set how long keys last in the settings of the organization'],
  ['litellm_settings', 'success_callback', 'spans go to traces.endpoint, and alerts and usage to channels'],
  ['litellm_settings', 'fallbacks', 'name another model in the client'],
  ['router_settings', 'model_group_alias', 'clients name the models that there are here'],
]

/** Reads the text of a `config.yaml`. Throws for one that is none. */
export async function readLiteLlmConfig(path: string): Promise<LiteLlmConfig> {
  const { data, error } = schema.safeParse((await readYaml(path)) ?? {})
  if (error !== undefined) {
    const place = error.issues[0]?.path.join('.') ?? ''
    const reason = place === '' ? 'it must be a mapping, with model_list in it' : `${place} cannot be read`
    throw new Error(`${path} is no config.yaml of LiteLLM’s: ${reason}.`)
  }
  const models = (data.model_list ?? []).map(({ model_name: name, model_info: about }) => {
    return { name, groups: about?.access_groups ?? [] }
  })
  const limited = (data.model_list ?? []).filter(({ litellm_params: params }) => params?.rpm ?? params?.tpm)
  return {
    models,
    byHand: [
      ...settings.flatMap(([section, name, here]) =>
        data[section]?.[name] === undefined ? [] : [`${section}.${name}: ${here}`],
      ),
      ...(limited.length === 0 ? [] : ['rpm and tpm of deployments: a model takes what its slots or its pool can do']),
    ],
  }
}

/** Reads a mapping of names to our models, as YAML or JSON. Throws for a model that is not here. */
export async function readModelMapping(path: string): Promise<Map<string, ModelId>> {
  const { data } = z.record(z.string(), z.string()).safeParse(await readYaml(path))
  if (data === undefined) throw new Error(`${path} must have a line for each model, such as gpt-4o: clarke-1.0`)
  return new Map(Object.entries(data).map(([name, ours]) => [name, requireModel(ours)]))
}

export function requireModel(name: string): ModelId {
  const model = modelIds.find((id) => id === name)
  if (model === undefined) throw new Error(`There is no model ${name} here: ${modelIds.join(', ')}.`)
  return model
}

async function readYaml(path: string): Promise<unknown> {
  const { parse } = await import('yaml')
  try {
    return parse(readFileSync(path, 'utf8')) as unknown
  } catch (error) {
    throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** A name that LiteLLM has for a model, what it becomes, and what it could become where nobody has said. */
export type MappedModel = { readonly name: string; readonly model: ModelId | null; readonly suggested: ModelId | null }

/** Knows the names of models, what each of them becomes, and what names of groups stand for. */
export class ModelNames {
  readonly #mapping: ReadonlyMap<string, ModelId>
  readonly #groups = new Map<string, string[]>()
  readonly #seen = new Set<string>()

  constructor(
    mapping: ReadonlyMap<string, ModelId>,
    tables: Pick<LiteLlmTables, 'LiteLLM_ProxyModelTable'> | null,
    config: LiteLlmConfig | null,
  ) {
    this.#mapping = mapping
    const stored = (tables?.LiteLLM_ProxyModelTable ?? []).map(({ model_name: name, model_info: about }) => {
      const groups = z.array(z.string()).safeParse(about['access_groups']).data ?? []
      return { name, groups }
    })
    for (const { name, groups } of [...(config?.models ?? []), ...stored]) {
      this.#seen.add(name)
      for (const group of groups) this.#groups.set(group, [...(this.#groups.get(group) ?? []), name])
    }
  }

  find(name: string): ModelId | null {
    if (this.#groups.has(name) && !this.#mapping.has(name)) return null
    this.#seen.add(name)
    return this.#modelOf(name)
  }

  /** The models that a list of names stands for; null where it confines to none, as an empty one does. */
  allowed(list: readonly string[]): ReadonlySet<ModelId> | null {
    if (list.length === 0 || list.some((name) => name === 'all-proxy-models' || name === '*')) return null
    const plain = list.filter((name) => name !== 'no-default-models')
    const all = plain.flatMap((name) => (this.#mapping.has(name) ? [name] : (this.#groups.get(name) ?? [name])))
    return new Set(all.flatMap((name) => this.find(name) ?? []))
  }

  /** A gateway in front of this service has our own names already. */
  #modelOf(name: string): ModelId | null {
    return this.#mapping.get(name) ?? modelIds.find((id) => id === name) ?? null
  }

  /** All names that were met. */
  list(): MappedModel[] {
    return Array.from(this.#seen, (name) => {
      const model = this.#modelOf(name)
      return { name, model, suggested: model === null ? (findEquivalent(name)?.model ?? null) : null }
    }).toSorted((one, other) => one.name.localeCompare(other.name))
  }
}
