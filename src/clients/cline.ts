import { join } from 'node:path'
import { keyToWrite, plannedOutputTokens, type Connection } from './connection.ts'
import { reachChat, reachMessages } from './reach.ts'
import type { SupportedClient } from './client.ts'

const providers = { chat: 'openai-compatible', messages: 'anthropic' } as const

export const cline: SupportedClient = {
  name: 'cline',
  title: 'Cline',
  formats: ['chat', 'messages'],
  setUp(connection) {
    const { address, format } = connection
    const provider = providers[format]
    return {
      reach:
        format === 'chat'
          ? reachChat(address)
          : reachMessages(address, { base: 'with-v1', authorization: 'x-api-key' }),
      parts: [
        {
          kind: 'file',
          path: join(folderOf(connection), 'settings', 'providers.json'),
          syntax: 'json',
          settings: { lastUsedProvider: provider, providers: { [provider]: { settings: settings(connection) } } },
          // Cline takes no file without a date and sets it anew each time.
          defaults: { version: 1, providers: { [provider]: { updatedAt: '2026-01-01T00:00:00.000Z' } } },
        },
      ],
      notes: ['This is the file of the command line program; the editor extension is set in its own panel.'],
    }
  },
}

function folderOf({ folders: { home, variables } }: Connection): string {
  return variables['CLINE_DATA_DIR'] ?? join(variables['CLINE_DIR'] ?? join(home, '.cline'), 'data')
}

function settings(connection: Connection) {
  const { address, format, model } = connection
  return {
    provider: providers[format],
    apiKey: keyToWrite(connection),
    model: model.id,
    baseUrl: `${address}/v1`,
    contextWindow: model.windowTokens,
    maxTokens: plannedOutputTokens(model),
  }
}
