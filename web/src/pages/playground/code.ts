// A request of the playground as programs of its clients.

import { toBody, type Settings, type Turn } from './conversation.ts'

const names = {
  curl: 'curl',
  'openai-node': 'OpenAI SDK, TypeScript',
  'openai-python': 'OpenAI SDK, Python',
  'anthropic-node': 'Anthropic SDK, TypeScript',
  'anthropic-python': 'Anthropic SDK, Python',
  'vercel-ai': 'Vercel AI SDK',
  langchain: 'LangChain',
  'claude-code': 'Claude Code',
} as const

export type CodeClient = keyof typeof names
export const codeChoices = Object.entries(names).map(([value, label]) => ({ value: value as CodeClient, label }))

export type Asked = { readonly address: string; readonly settings: Settings; readonly turns: readonly Turn[] }
export type Snippet = { readonly label: string; readonly text: string }

type Body = Readonly<Record<string, unknown>>

/** A whole answer is shorter to read than a stream, and its tokens are the same. */
function bodyOf({ settings, turns }: Asked, format: Settings['format']): Body {
  const { stream: _, stream_options: __, ...body } = toBody({ ...settings, format }, turns)
  return body
}

const writers: Readonly<Record<CodeClient, (asked: Asked) => readonly Snippet[]>> = {
  curl: (asked) => {
    const { address, settings } = asked
    const isMessages = settings.format === 'messages'
    const path = isMessages ? '/v1/messages' : '/v1/chat/completions'
    const body = json(bodyOf(asked, settings.format)).replaceAll("'", String.raw`'\''`)
    const text = [
      `curl ${address}${path} \\`,
      '  -H "Authorization: Bearer $ODYSSEY_KEY" \\',
      ...(isMessages ? ['  -H "anthropic-version: 2023-06-01" \\'] : []),
      '  -H "Content-Type: application/json" \\',
      `  -d '${body}'`,
    ].join('\n')
    return [{ label: 'Shell', text }]
  },
  'openai-node': (asked) => [
    { label: 'Shell', text: 'npm install openai' },
    {
      label: 'ask.mjs',
      text: `import { OpenAI } from 'openai'

const client = new OpenAI({ baseURL: '${asked.address}/v1', apiKey: process.env.ODYSSEY_KEY })
const answer = await client.chat.completions.create(${json(bodyOf(asked, 'chat-completions'))})
console.log(answer.choices[0].message)`,
    },
  ],
  'openai-python': (asked) => [
    { label: 'Shell', text: 'pip install openai' },
    {
      label: 'ask.py',
      text: `import os
from openai import OpenAI

client = OpenAI(base_url="${asked.address}/v1", api_key=os.environ["ODYSSEY_KEY"])
answer = client.chat.completions.create(
${pythonArguments(bodyOf(asked, 'chat-completions'), ['thinking'])})
print(answer.choices[0].message)`,
    },
  ],
  'anthropic-node': (asked) => [
    { label: 'Shell', text: 'npm install @anthropic-ai/sdk' },
    {
      label: 'ask.mjs',
      text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${asked.address}', apiKey: process.env.ODYSSEY_KEY })
const answer = await client.messages.create(${json(bodyOf(asked, 'messages'))})
console.log(answer.content)`,
    },
  ],
  'anthropic-python': (asked) => [
    { label: 'Shell', text: 'pip install anthropic' },
    {
      label: 'ask.py',
      text: `import os
from anthropic import Anthropic

client = Anthropic(base_url="${asked.address}", api_key=os.environ["ODYSSEY_KEY"])
answer = client.messages.create(
${pythonArguments(bodyOf(asked, 'messages'), [])})
print(answer.content)`,
    },
  ],
  'vercel-ai': (asked) => [
    { label: 'Shell', text: 'npm install ai @ai-sdk/openai-compatible' },
    {
      label: 'ask.mjs',
      text: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const odyssey = createOpenAICompatible({
  name: 'odyssey',
  baseURL: '${asked.address}/v1',
  apiKey: process.env.ODYSSEY_KEY,
})
const { text } = await generateText(${plainCall(asked, `odyssey('${asked.settings.model}')`)})
console.log(text)`,
    },
  ],
  langchain: (asked) => [
    { label: 'Shell', text: 'npm install @langchain/openai @langchain/core' },
    {
      label: 'ask.mjs',
      text: `import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI({
  model: '${asked.settings.model}',
  maxTokens: ${asked.settings.outputTokensMax},${temperatureLine(asked.settings, 2)}
  apiKey: process.env.ODYSSEY_KEY,
  configuration: { baseURL: '${asked.address}/v1' },
})
const answer = await model.invoke(${json([...systemOf(asked.settings), ...textsOf(asked.turns)])})
console.log(answer.content)`,
    },
  ],
  // It takes one prompt, and neither an answer that is gone on with nor the result of a tool is one.
  'claude-code': ({ address, settings, turns }) => [
    {
      label: 'Shell',
      text: `export ANTHROPIC_BASE_URL=${address}
export ANTHROPIC_AUTH_TOKEN=$ODYSSEY_KEY
export ANTHROPIC_MODEL=${settings.model}
claude -p ${shellText(turns.findLast((turn) => turn.kind === 'user')?.text ?? '')}`,
    },
  ],
}

export function codeOf(client: CodeClient, asked: Asked): readonly Snippet[] {
  return writers[client](asked)
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

type Said = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }

/** What was said, for clients that have an own notion of tools. */
function textsOf(turns: readonly Turn[]): readonly Said[] {
  return turns.flatMap((turn): readonly Said[] => {
    if (turn.kind === 'results') return turn.results.map(({ text }) => ({ role: 'user', content: text }))
    return [{ role: turn.kind, content: turn.text }]
  })
}

function systemOf({ system }: Settings): readonly Said[] {
  return system === '' ? [] : [{ role: 'system', content: system }]
}

function temperatureLine({ temperature }: Settings, indent: number): string {
  return temperature === '' ? '' : `\n${' '.repeat(indent)}temperature: ${Number(temperature)},`
}

function plainCall({ settings, turns }: Asked, model: string): string {
  const system = settings.system === '' ? '' : `\n  system: ${JSON.stringify(settings.system)},`
  const messages = json(textsOf(turns)).replaceAll('\n', '\n  ')
  return `{
  model: ${model},
  maxOutputTokens: ${settings.outputTokensMax},${temperatureLine(settings, 2)}${system}
  messages: ${messages},
}`
}

/** The fields of a body as arguments; those that the SDK does not know by name go into its extra body. */
function pythonArguments(body: Body, extra: readonly string[]): string {
  const known = Object.entries(body).filter(([name]) => !extra.includes(name))
  const others = Object.entries(body).filter(([name]) => extra.includes(name))
  const all = others.length === 0 ? known : [...known, ['extra_body', Object.fromEntries(others)] as const]
  return all.map(([name, value]) => `    ${name}=${python(value, 1)},\n`).join('')
}

/** A value of JSON as Python writes it; strings are written alike in both. */
function python(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const items = Array.isArray(value)
    ? value.map((item) => python(item, depth + 1))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${python(item, depth + 1)}`)
  if (items.length === 0) return open + close
  const pad = '    '.repeat(depth + 1)
  return `${open}\n${items.map((item) => `${pad}${item},\n`).join('')}${'    '.repeat(depth)}${close}`
}

function shellText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
