import { join } from 'node:path'
import { keyToWrite, plannedOutputTokens, type Connection } from './connection.ts'
import { reachEither } from './reach.ts'
import type { SupportedClient } from './client.ts'

const providers = { chat: 'openai', messages: 'anthropic' } as const

export const continueDev: SupportedClient = {
  name: 'continue',
  title: 'Continue',
  formats: ['chat', 'messages'],
  setUp: (connection) => ({
    reach: reachEither(connection, { base: 'with-v1', authorization: 'x-api-key' }),
    parts: [
      {
        kind: 'file',
        path: join(folderOf(connection), 'config.yaml'),
        syntax: 'yaml',
        settings: { models: models(connection) },
        defaults: { name: 'Local', version: '1.0.0', schema: 'v1' },
      },
    ],
    notes: ['Continue begins with the first model of the file; choose another one in its list of models.'],
  }),
}

function folderOf({ folders }: Connection): string {
  return folders.variables['CONTINUE_GLOBAL_DIR'] ?? join(folders.home, '.continue')
}

function models(connection: Connection) {
  return connection.models.map((offered) => ({
    name: offered.displayName,
    provider: providers[connection.format],
    model: offered.id,
    apiBase: `${connection.address}/v1`,
    apiKey: keyToWrite(connection),
    roles: ['chat', 'edit', 'apply'],
    // Continue does not offer its tools to models that it does not know.
    capabilities: ['tool_use'],
    defaultCompletionOptions: {
      contextLength: offered.windowTokens,
      maxTokens: plannedOutputTokens(offered),
    },
  }))
}
