import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Listening } from '../clients/client.ts'

export type Setup = Listening & {
  /** Where the packages are installed. */
  readonly modules: string
  /** The folder the agent works in; also its home. */
  readonly folder: string
  readonly prompt: string
}

export type Run = {
  readonly file: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** A coding agent, run without a terminal, with the settings that the documentation gives for it. */
export type Agent = {
  readonly name: string
  readonly package: string
  readonly version: string
  /** Whether it shortens a conversation that has become too long; one that does not must say what is wrong. */
  readonly shortens: boolean
  /** Whether it asks again after a refusal that passes and an answer that broke off; one that does not must report it. */
  readonly asksAgain: boolean
  prepare(setup: Setup): Run
}

const platform = `${process.platform}-${process.arch}`

export const claudeCode: Agent = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.330',
  shortens: true,
  asksAgain: true,
  prepare: ({ modules, address, key, prompt }) => ({
    file: join(modules, `@anthropic-ai/claude-code-${platform}/claude`),
    args: ['-p', prompt, '--dangerously-skip-permissions'],
    environment: {
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_MODEL: 'clarke-1.0',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'tycho-1.0',
      // Keeps it from asking the vendor for news, and lets it act unasked also as root.
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    },
  }),
}

const opencode = (npm: string, name: string): Agent => ({
  name,
  package: 'opencode-ai',
  version: '1.18.33',
  shortens: true,
  asksAgain: true,
  prepare({ modules, folder, address, key, prompt }) {
    const models = { 'clarke-1.0': { limit: { context: 1_000_000, output: 64_000 } }, 'tycho-1.0': {} }
    const provider = { odyssey: { npm, options: { baseURL: `${address}/v1`, apiKey: key }, models } }
    const settings = { provider, model: 'odyssey/clarke-1.0', small_model: 'odyssey/tycho-1.0' }
    writeFileSync(join(folder, 'opencode.json'), JSON.stringify(settings))
    return {
      file: join(modules, `opencode-${platform}/bin/opencode`),
      args: ['run', prompt],
      environment: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    }
  },
})

const qwenCode = (type: 'openai' | 'anthropic', name: string): Agent => ({
  name,
  package: '@qwen-code/qwen-code',
  version: '0.24.4',
  // Not one of a few turns, at least.
  shortens: false,
  asksAgain: true,
  prepare({ modules, address, key, prompt }) {
    const prefix = type.toUpperCase()
    return {
      file: process.execPath,
      args: [join(modules, '@qwen-code/qwen-code/cli-entry.js'), '--auth-type', type, '--yolo', '-p', prompt],
      environment: {
        [`${prefix}_API_KEY`]: key,
        [`${prefix}_BASE_URL`]: type === 'openai' ? `${address}/v1` : address,
        [`${prefix}_MODEL`]: 'clarke-1.0',
      },
    }
  },
})

const cline = (provider: 'openai-compatible' | 'anthropic', name: string): Agent => ({
  name,
  package: 'cline',
  version: '3.0.65',
  shortens: true,
  // It asks again when it sees the connection cut, and reports the error that stands before that if it sees it first.
  asksAgain: provider === 'openai-compatible',
  prepare({ modules, folder, address, key, prompt }) {
    const settings = { provider, apiKey: key, model: 'clarke-1.0', baseUrl: `${address}/v1` }
    const updatedAt = '2026-01-01T00:00:00.000Z'
    writeSettings(join(folder, '.cline/data/settings/providers.json'), {
      version: 1,
      providers: { [provider]: { updatedAt, settings: { ...settings, contextWindow: 1_000_000, maxTokens: 32_000 } } },
      lastUsedProvider: provider,
    })
    return {
      file: join(modules, `@cline/cli-${platform}/bin/cline`),
      args: ['-P', provider, '-m', 'clarke-1.0', '--auto-approve', 'true', prompt],
      environment: {},
    }
  },
})

const continueDev = (provider: 'openai' | 'anthropic', name: string): Agent => ({
  name,
  package: '@continuedev/cli',
  version: '1.5.47',
  shortens: false,
  asksAgain: provider === 'openai',
  prepare({ modules, folder, address, key, prompt }) {
    const model = { name: 'Clarke 1.0', provider, model: 'clarke-1.0', apiBase: `${address}/v1`, apiKey: key }
    const limits = { contextLength: 1_000_000, maxTokens: 32_000 }
    const path = join(folder, '.continue/config.yaml')
    // Every JSON text is YAML as well.
    writeSettings(path, {
      name: 'Local',
      version: '1.0.0',
      schema: 'v1',
      models: [{ ...model, roles: ['chat'], capabilities: ['tool_use'], defaultCompletionOptions: limits }],
    })
    return {
      file: process.execPath,
      args: [join(modules, '@continuedev/cli/dist/cn.js'), '--config', path, '--auto', '-p', prompt],
      environment: { CONTINUE_TELEMETRY_ENABLED: '0' },
    }
  },
})

function writeSettings(path: string, settings: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(settings))
}

export const agents: readonly Agent[] = [
  claudeCode,
  opencode('@ai-sdk/openai-compatible', 'opencode, chat'),
  opencode('@ai-sdk/anthropic', 'opencode, messages'),
  qwenCode('openai', 'Qwen Code, chat'),
  qwenCode('anthropic', 'Qwen Code, messages'),
  cline('openai-compatible', 'Cline, chat'),
  cline('anthropic', 'Cline, messages'),
  continueDev('openai', 'Continue, chat'),
  continueDev('anthropic', 'Continue, messages'),
]
