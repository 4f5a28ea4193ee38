import { join } from 'node:path'
import { keyToWrite, type Connection } from './connection.ts'
import { reachMessages } from './reach.ts'
import type { SupportedClient } from './client.ts'

export const claudeCode: SupportedClient = {
  name: 'claude-code',
  title: 'Claude Code',
  formats: ['messages'],
  setUp: (connection) => ({
    reach: reachMessages(connection.address, { base: 'root', authorization: 'bearer', query: '?beta=true' }),
    parts: [
      {
        kind: 'file',
        path: join(folderOf(connection), 'settings.json'),
        syntax: 'json',
        settings: { env: variables(connection, keyToWrite(connection)) },
      },
      { kind: 'snippet', title: 'Or for one shell alone', language: 'sh', code: exports(connection) },
    ],
    notes: [
      'Subagents ask for models by the names haiku, sonnet, opus and fable; four of the variables say which models these are.',
    ],
  }),
}

function folderOf({ folders }: Connection): string {
  return folders.variables['CLAUDE_CONFIG_DIR'] ?? join(folders.home, '.claude')
}

function variables(connection: Connection, key: string): Record<string, string> {
  return { ANTHROPIC_BASE_URL: connection.address, ANTHROPIC_AUTH_TOKEN: key, ...claudeCodeModels(connection) }
}

/** Which models stand behind the names by which Claude Code asks for them. */
export function claudeCodeModels({
  model,
  smallModel,
}: Pick<Connection, 'model' | 'smallModel'>): Record<string, string> {
  return {
    ANTHROPIC_MODEL: model.id,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: smallModel.id,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model.id,
    ANTHROPIC_DEFAULT_OPUS_MODEL: 'hal-1.0',
    ANTHROPIC_DEFAULT_FABLE_MODEL: 'hal-1.0',
    // Claude Code takes every model that it does not know for one of a million tokens.
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(model.windowTokens),
  }
}

function exports(connection: Connection): string {
  return Object.entries(variables(connection, '$ODYSSEY_KEY'))
    .map(([name, value]) => `export ${name}=${value}\n`)
    .join('')
}
