import { join } from 'node:path'
import { keyToWrite, plannedOutputTokens, type Connection } from './connection.ts'
import { reachChat } from './reach.ts'
import type { SupportedClient } from './client.ts'

export const aider: SupportedClient = {
  name: 'aider',
  title: 'aider',
  formats: ['chat'],
  setUp: (connection) => ({
    reach: reachChat(connection.address),
    parts: [
      {
        kind: 'file',
        path: join(connection.folders.home, '.aider.conf.yml'),
        syntax: 'yaml',
        settings: {
          'openai-api-base': `${connection.address}/v1`,
          'openai-api-key': keyToWrite(connection),
          model: `openai/${connection.model.id}`,
          'weak-model': `openai/${connection.smallModel.id}`,
        },
      },
      {
        kind: 'file',
        path: join(connection.folders.home, '.aider.model.metadata.json'),
        syntax: 'json',
        settings: sizes(connection),
      },
    ],
    notes: ['A .aider.conf.yml in the repository or in the current folder wins over the one in the home folder.'],
  }),
}

function sizes({ models }: Connection) {
  const entries = models.map((offered) => [
    `openai/${offered.id}`,
    {
      max_input_tokens: offered.windowTokens,
      max_output_tokens: plannedOutputTokens(offered),
      max_tokens: plannedOutputTokens(offered),
      litellm_provider: 'openai',
      mode: 'chat',
    },
  ])
  return Object.fromEntries(entries)
}
