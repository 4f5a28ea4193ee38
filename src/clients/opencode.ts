import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { keyToWrite, plannedOutputTokens, type Connection } from './connection.ts'
import { reachEither } from './reach.ts'
import type { SupportedClient } from './client.ts'

/** Both take the address with `/v1`. */
const packages = { chat: '@ai-sdk/openai-compatible', messages: '@ai-sdk/anthropic' } as const

export const opencode: SupportedClient = {
  name: 'opencode',
  title: 'opencode',
  formats: ['chat', 'messages'],
  setUp: (connection) => ({
    reach: reachEither(connection, { base: 'with-v1', authorization: 'x-api-key' }),
    parts: [
      {
        kind: 'file',
        path: pathOf(connection),
        syntax: 'jsonc',
        settings: settings(connection),
        defaults: { $schema: 'https://opencode.ai/config.json' },
      },
    ],
  }),
}

/** opencode reads both files, and what the one with comments says wins. */
function pathOf({ folders }: Connection): string {
  const folder = join(folders.variables['XDG_CONFIG_HOME'] ?? join(folders.home, '.config'), 'opencode')
  const withComments = join(folder, 'opencode.jsonc')
  return existsSync(withComments) ? withComments : join(folder, 'opencode.json')
}

function settings(connection: Connection) {
  const { address, format, model, smallModel, models } = connection
  const entries = models.map((offered) => [
    offered.id,
    {
      name: offered.displayName,
      limit: { context: offered.windowTokens, output: plannedOutputTokens(offered) },
    },
  ])
  return {
    provider: {
      odyssey: {
        npm: packages[format],
        name: 'Odyssey',
        options: { baseURL: `${address}/v1`, apiKey: keyToWrite(connection) },
        models: Object.fromEntries(entries),
      },
    },
    model: `odyssey/${model.id}`,
    small_model: `odyssey/${smallModel.id}`,
  }
}
