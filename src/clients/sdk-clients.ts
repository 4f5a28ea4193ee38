import type { Connection } from './connection.ts'
import { reachChat, reachEither, reachMessages } from './reach.ts'
import type { Snippet, SupportedClient } from './client.ts'

/** What the official library of the messages format has sent since its 1.0, and the one for Python since 2.0. */
const newestVersion = '2026-10-21'

export const sdkClients: readonly SupportedClient[] = [
  {
    name: 'openai-js',
    title: 'OpenAI SDK for JavaScript',
    formats: ['chat'],
    setUp: (connection) => ({ reach: reachChat(connection.address), parts: [openaiJs(connection)] }),
  },
  {
    name: 'openai-python',
    title: 'OpenAI SDK for Python',
    formats: ['chat'],
    setUp: (connection) => ({ reach: reachChat(connection.address), parts: [openaiPython(connection)] }),
  },
  {
    name: 'anthropic-js',
    title: 'Anthropic SDK for JavaScript',
    formats: ['messages'],
    setUp: (connection) => ({ reach: reachAnthropic(connection), parts: [anthropicJs(connection)] }),
  },
  {
    name: 'anthropic-python',
    title: 'Anthropic SDK for Python',
    formats: ['messages'],
    setUp: (connection) => ({ reach: reachAnthropic(connection), parts: [anthropicPython(connection)] }),
  },
]

function reachAnthropic({ address }: Connection) {
  return reachMessages(address, { base: 'root', authorization: 'bearer', version: newestVersion })
}

function openaiJs({ address, model }: Connection): Snippet {
  const code = `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${address}/v1', apiKey: process.env.ODYSSEY_KEY })
const answer = await client.chat.completions.create({
  model: '${model.id}',
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(answer.choices[0].message.content)
`
  return { kind: 'snippet', title: 'JavaScript', language: 'js', code }
}

function openaiPython({ address, model }: Connection): Snippet {
  const code = `import os
from openai import OpenAI

client = OpenAI(base_url="${address}/v1", api_key=os.environ["ODYSSEY_KEY"])
answer = client.chat.completions.create(
    model="${model.id}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)
`
  return { kind: 'snippet', title: 'Python', language: 'python', code }
}

function anthropicJs({ address, model }: Connection): Snippet {
  const code = `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${address}', apiKey: process.env.ODYSSEY_KEY })
const answer = await client.messages.create({
  model: '${model.id}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(answer.content.at(-1).text)
`
  return { kind: 'snippet', title: 'JavaScript', language: 'js', code }
}

function anthropicPython({ address, model }: Connection): Snippet {
  const code = `import os
from anthropic import Anthropic

client = Anthropic(base_url="${address}", api_key=os.environ["ODYSSEY_KEY"])
answer = client.messages.create(
    model="${model.id}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.content[-1].text)
`
  return { kind: 'snippet', title: 'Python', language: 'python', code }
}

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
