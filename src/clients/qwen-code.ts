import { join } from 'node:path'
import { keyToWrite, type Connection } from './connection.ts'
import { reachChat, reachMessages } from './reach.ts'
import type { SupportedClient } from './client.ts'

const protocols = { chat: 'openai', messages: 'anthropic' } as const

export const qwenCode: SupportedClient = {
  name: 'qwen-code',
  title: 'Qwen Code',
  formats: ['chat', 'messages'],
  setUp(connection) {
    const { address, format } = connection
    const reach =
      format === 'chat' ? reachChat(address) : reachMessages(address, { base: 'root', authorization: 'bearer' })
    return {
      reach,
      parts: [
        {
          kind: 'file',
          path: join(folderOf(connection), 'settings.json'),
          syntax: 'jsonc',
          settings: settings(connection, reach.baseAddress),
        },
      ],
      notes: ['A variable ODYSSEY_KEY in the shell wins over the one in this file.'],
    }
  },
}

function folderOf({ folders }: Connection): string {
  return folders.variables['QWEN_HOME'] ?? join(folders.home, '.qwen')
}

function settings(connection: Connection, baseUrl: string) {
  const { format, model, smallModel, models } = connection
  const protocol = protocols[format]
  return {
    env: { ODYSSEY_KEY: keyToWrite(connection) },
    modelProviders: {
      [protocol]: models.map(({ id, displayName, windowTokens }) => ({
        id,
        name: displayName,
        envKey: 'ODYSSEY_KEY',
        baseUrl,
        generationConfig: { contextWindowSize: windowTokens },
      })),
    },
    security: { auth: { selectedType: protocol } },
    model: { name: model.id },
    fastModel: smallModel.id,
  }
}
