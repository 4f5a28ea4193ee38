// How the most used clients are told of this service. The secret stands in one line only, as a variable of the shell.

export type ClientId =
  | 'curl'
  | 'openai-node'
  | 'openai-python'
  | 'anthropic-node'
  | 'anthropic-python'
  | 'claude-code'
  | 'opencode'
  | 'env'
export type Client = {
  readonly id: ClientId
  readonly name: string
  readonly group: 'Coding agents' | 'Libraries' | 'Shell'
}
export type Snippet = { readonly label: string; readonly text: string }

export const clients: readonly Client[] = [
  { id: 'claude-code', name: 'Claude Code', group: 'Coding agents' },
  { id: 'opencode', name: 'opencode', group: 'Coding agents' },
  { id: 'openai-node', name: 'OpenAI SDK, TypeScript', group: 'Libraries' },
  { id: 'openai-python', name: 'OpenAI SDK, Python', group: 'Libraries' },
  { id: 'anthropic-node', name: 'Anthropic SDK, TypeScript', group: 'Libraries' },
  { id: 'anthropic-python', name: 'Anthropic SDK, Python', group: 'Libraries' },
  { id: 'curl', name: 'curl', group: 'Shell' },
  { id: 'env', name: '.env file', group: 'Shell' },
]

type Told = { readonly address: string; readonly model: string }

/** The one line that has the key itself. */
export function keyLine(key: string): string {
  return `export ODYSSEY_KEY=${key}`
}

const snippets: Readonly<Record<ClientId, (told: Told) => readonly Snippet[]>> = {
  curl: ({ address, model }) => [
    {
      label: 'Shell',
      text: `curl ${address}/v1/chat/completions \\
  -H "Authorization: Bearer $ODYSSEY_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
  ],
  'openai-node': ({ address, model }) => [
    { label: 'Shell', text: 'npm install openai' },
    {
      label: 'hello.ts',
      text: `import { OpenAI } from 'openai'

const client = new OpenAI({ baseURL: '${address}/v1', apiKey: process.env.ODYSSEY_KEY })
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
    },
  ],
  'openai-python': ({ address, model }) => [
    { label: 'Shell', text: 'pip install openai' },
    {
      label: 'hello.py',
      text: `import os
from openai import OpenAI

client = OpenAI(base_url="${address}/v1", api_key=os.environ["ODYSSEY_KEY"])
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
    },
  ],
  'anthropic-node': ({ address, model }) => [
    { label: 'Shell', text: 'npm install @anthropic-ai/sdk' },
    {
      label: 'hello.ts',
      text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${address}', apiKey: process.env.ODYSSEY_KEY })
const answer = await client.messages.create({
  model: '${model}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.content)`,
    },
  ],
  'anthropic-python': ({ address, model }) => [
    { label: 'Shell', text: 'pip install anthropic' },
    {
      label: 'hello.py',
      text: `import os
from anthropic import Anthropic

client = Anthropic(base_url="${address}", api_key=os.environ["ODYSSEY_KEY"])
answer = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.content)`,
    },
  ],
  'claude-code': ({ address, model }) => [
    {
      label: 'Shell',
      text: `export ANTHROPIC_BASE_URL=${address}
export ANTHROPIC_AUTH_TOKEN=$ODYSSEY_KEY
export ANTHROPIC_MODEL=${model}
claude`,
    },
    { label: 'Or have its settings file written', text: 'npx odyssey connect claude-code --write' },
  ],
  opencode: () => [{ label: 'Have its settings file written', text: 'npx odyssey connect opencode --write' }],
  env: ({ address }) => [
    {
      label: '.env',
      text: `OPENAI_BASE_URL=${address}/v1\nOPENAI_API_KEY=$ODYSSEY_KEY\nANTHROPIC_BASE_URL=${address}\nANTHROPIC_AUTH_TOKEN=$ODYSSEY_KEY`,
    },
  ],
}

export function snippetsOf(id: ClientId, told: Told): readonly Snippet[] {
  return snippets[id](told)
}

/** Which of the two formats a client speaks. */
export function formatOf(id: ClientId): 'chat-completions' | 'messages' {
  return /^(?:anthropic|claude)/.test(id) ? 'messages' : 'chat-completions'
}
