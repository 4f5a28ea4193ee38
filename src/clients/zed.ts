import { join } from 'node:path'
import { plannedOutputTokens, type Connection } from './connection.ts'
import { reachChat } from './reach.ts'
import type { SupportedClient } from './client.ts'

export const zed: SupportedClient = {
  name: 'zed',
  title: 'Zed',
  formats: ['chat'],
  setUp: (connection) => ({
    reach: reachChat(connection.address),
    parts: [
      { kind: 'file', path: pathOf(connection), syntax: 'jsonc', settings: settings(connection) },
      {
        kind: 'snippet',
        title: 'Before Zed starts from the same shell',
        language: 'sh',
        code: 'export ODYSSEY_API_KEY=$ODYSSEY_KEY\n',
      },
    ],
    notes: [
      'Zed takes no key from its file: it reads ODYSSEY_API_KEY, or the key that is entered under Settings → AI → LLM Providers.',
    ],
  }),
}

function pathOf({ folders: { home, variables } }: Connection): string {
  const roaming = variables['APPDATA']
  if (roaming !== undefined) return join(roaming, 'Zed', 'settings.json')
  // On macOS too; XDG_CONFIG_HOME counts on Linux alone, where it is set if at all.
  return join(variables['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'zed', 'settings.json')
}

function settings({ address, model, models }: Connection) {
  return {
    language_models: {
      openai_compatible: {
        odyssey: {
          api_url: `${address}/v1`,
          available_models: models.map((offered) => ({
            name: offered.id,
            display_name: offered.displayName,
            max_tokens: offered.windowTokens,
            max_output_tokens: plannedOutputTokens(offered),
            capabilities: { tools: true, images: false, parallel_tool_calls: false, prompt_cache_key: false },
          })),
        },
      },
    },
    agent: { default_model: { provider: 'odyssey', model: model.id } },
  }
}
