import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
  prepare(setup: Setup): Run
}

const platform = `${process.platform}-${process.arch}`

const claudeCode: Agent = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.330',
  shortens: true,
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

export const agents: readonly Agent[] = [
  claudeCode,
  opencode('@ai-sdk/openai-compatible', 'opencode, chat'),
  opencode('@ai-sdk/anthropic', 'opencode, messages'),
  qwenCode('openai', 'Qwen Code, chat'),
  qwenCode('anthropic', 'Qwen Code, messages'),
]
