import { execFileSync } from 'node:child_process'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseYaml } from 'yaml'
import type { Block } from './client-pages.ts'

/** Where a client will call, by its settings and its own habits. */
export type PlannedCall = { readonly url: string; readonly headers: Record<string, string>; readonly model: string }

// Whatever is in a settings file, as far as these readers go into it.
type Settings = Record<string, any> // eslint-disable-line typescript/no-explicit-any

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/**
 * Reads settings the way each client does.
 *
 * Written from what the clients were seen to do, and on purpose with nothing of
 * the code that makes the settings: the two must come to the same call.
 */
export const settingsReaders: Readonly<Record<string, (blocks: readonly Block[], key: string) => PlannedCall>> = {
  'Claude Code'([file, shell], key) {
    const { env } = fromJson(file)
    const exported = environmentOf(shell, key)
    if (JSON.stringify(env) !== JSON.stringify(pick(exported, Object.keys(env)))) throw new Error('The two differ.')
    return {
      url: `${env.ANTHROPIC_BASE_URL}/v1/messages?beta=true`,
      headers: bearer(env.ANTHROPIC_AUTH_TOKEN),
      model: env.ANTHROPIC_MODEL,
    }
  },
  opencode([file]) {
    const { provider, model } = fromJson(file)
    const [name = '', id = ''] = String(model).split('/')
    const { npm, options, models } = provider[name]
    if (npm !== '@ai-sdk/openai-compatible' || !Object.hasOwn(models, id)) throw new Error('The model is not there.')
    return { url: `${options.baseURL}/chat/completions`, headers: bearer(options.apiKey), model: id }
  },
  'Qwen Code'([file]) {
    const { env, modelProviders, security, model } = fromJson(file)
    const protocol = security.auth.selectedType as string
    const { id, baseUrl, envKey } = modelProviders[protocol].find((entry: Settings) => entry['id'] === model.name)
    const path = protocol === 'openai' ? '/chat/completions' : '/v1/messages'
    return { url: `${baseUrl}${path}`, headers: bearer(env[envKey]), model: id }
  },
  Cline([file]) {
    const { lastUsedProvider, providers } = fromJson(file)
    const { settings } = providers[lastUsedProvider]
    return { url: `${settings.baseUrl}/chat/completions`, headers: bearer(settings.apiKey), model: settings.model }
  },
  Continue([file]) {
    const { models, schema } = fromYaml(file)
    const [first] = models
    if (schema !== 'v1' || first.provider !== 'openai') throw new Error('It is another kind of file.')
    return { url: `${first.apiBase}/chat/completions`, headers: bearer(first.apiKey), model: first.model }
  },
  aider([file, sizes]) {
    const settings = fromYaml(file)
    const model = settings['model'] as string
    if (fromJson(sizes)[model].litellm_provider !== 'openai') throw new Error('The model has no sizes.')
    return {
      url: `${settings['openai-api-base']}/chat/completions`,
      headers: bearer(settings['openai-api-key']),
      model: model.replace(/^openai\//, ''),
    }
  },
  Zed([file, shell], key) {
    const { language_models: providers, agent } = fromJson(file)
    const { provider, model } = agent.default_model
    const { api_url: address, available_models: models } = providers.openai_compatible[provider]
    if (!models.some((entry: Settings) => entry['name'] === model)) throw new Error('The model is not there.')
    const variable = `${String(provider).toUpperCase()}_API_KEY`
    return { url: `${address}/chat/completions`, headers: bearer(environmentOf(shell, key)[variable] ?? ''), model }
  },
  LiteLLM([file], key) {
    const [first] = fromYaml(file)['model_list']
    const { model, api_base: address, api_key: reference } = first.litellm_params
    if (reference !== 'os.environ/ODYSSEY_KEY' || !String(model).startsWith('openai/')) throw new Error('No key.')
    return { url: `${address}/chat/completions`, headers: bearer(key), model: String(model).replace('openai/', '') }
  },
  'Open WebUI'([shell], key) {
    const { OPENAI_API_BASE_URL: address, OPENAI_API_KEY: exported, DEFAULT_MODELS: model } = environmentOf(shell, key)
    return { url: `${address}/chat/completions`, headers: bearer(exported ?? ''), model: model ?? '' }
  },
}

function fromJson(block: Block | undefined): Settings {
  return (block?.language === 'json' ? JSON.parse(block.code) : parseJson(block?.code ?? '')) as Settings
}

function fromYaml(block: Block | undefined): Settings {
  return parseYaml(block?.code ?? '') as Settings
}

/** What a shell has in its environment after these lines. */
function environmentOf(block: Block | undefined, key: string): Record<string, string> {
  const environment = { PATH: process.env['PATH'] ?? '', ODYSSEY_KEY: key }
  const printed = execFileSync('sh', ['-c', `${block?.code ?? ''}\nenv`], { env: environment, encoding: 'utf8' })
  return Object.fromEntries(
    printed.split('\n').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]),
  )
}

function pick(values: Record<string, string>, names: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, values[name]]))
}
