import type { Connection } from './connection.ts'
import { reachEither } from './reach.ts'
import type { SupportedClient } from './client.ts'

export const curl: SupportedClient = {
  name: 'curl',
  title: 'curl',
  formats: ['chat', 'messages'],
  setUp: (connection) => ({
    reach: reachEither(connection, { base: 'root', authorization: 'x-api-key' }),
    parts: [{ kind: 'snippet', title: 'Shell', language: 'sh', code: command(connection) }],
  }),
}

function command({ address, format, model }: Connection): string {
  if (format === 'chat') {
    return `curl ${address}/v1/chat/completions \\
  -H "Authorization: Bearer $ODYSSEY_KEY" \\
  -d '{"model": "${model.id}", "messages": [{"role": "user", "content": "Hello!"}]}'
`
  }
  return `curl ${address}/v1/messages \\
  -H "x-api-key: $ODYSSEY_KEY" \\
  -d '{"model": "${model.id}", "max_tokens": 1024, "messages": [{"role": "user", "content": "Hello!"}]}'
`
}
