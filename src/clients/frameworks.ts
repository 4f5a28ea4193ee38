import type { Connection } from './connection.ts'
import { reachChat, reachEither, reachMessages } from './reach.ts'
import type { Setup, SupportedClient } from './client.ts'

export const frameworks: readonly SupportedClient[] = [
  {
    name: 'vercel-ai',
    title: 'Vercel AI SDK',
    formats: ['chat', 'messages'],
    setUp: (connection) => ({
      reach: reachEither(connection, { base: 'with-v1', authorization: 'x-api-key' }),
      parts: [{ kind: 'snippet', title: 'JavaScript', language: 'js', code: vercelJs(connection) }],
      notes: connection.format === 'chat' ? chatNotes : [],
    }),
  },
  {
    name: 'langchain-openai',
    title: 'LangChain OpenAI',
    formats: ['chat'],
    setUp: (connection) => ({
      reach: reachChat(connection.address),
      parts: both(langchainOpenaiJs(connection), langchainOpenaiPython(connection)),
    }),
  },
  {
    name: 'langchain-anthropic',
    title: 'LangChain Anthropic',
    formats: ['messages'],
    setUp: (connection) => ({
      reach: reachMessages(connection.address, { base: 'root', authorization: 'x-api-key' }),
      parts: both(langchainAnthropicJs(connection), langchainAnthropicPython(connection)),
    }),
  },
  {
    name: 'openai-agents',
    title: 'OpenAI Agents SDK',
    formats: ['chat'],
    setUp: (connection) => ({
      reach: reachChat(connection.address),
      parts: both(agentsJs(connection), agentsPython(connection)),
    }),
  },
]

const chatNotes = [
  'Without supportsStructuredOutputs the library leaves schemas out of its requests. Of @ai-sdk/openai only openai.chat(model) works: openai(model) asks /v1/responses, which Odyssey does not offer.',
]

function vercelJs({ address, format, model }: Connection): string {
  const ask = `const { text } = await generateText({ model: odyssey('${model.id}'), prompt: 'Hello!' })
console.log(text)
`
  if (format === 'chat') {
    return `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const odyssey = createOpenAICompatible({
  name: 'odyssey',
  baseURL: '${address}/v1',
  apiKey: process.env.ODYSSEY_KEY,
  includeUsage: true,
  supportsStructuredOutputs: true,
})
${ask}`
  }
  return `import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText } from 'ai'

const odyssey = createAnthropic({ baseURL: '${address}/v1', apiKey: process.env.ODYSSEY_KEY })
${ask}`
}

/** Snippets of a library that exists for both languages. */
function both(js: string, python: string): Setup['parts'] {
  return [
    { kind: 'snippet', title: 'JavaScript', language: 'js', code: js },
    { kind: 'snippet', title: 'Python', language: 'python', code: python },
  ]
}

function langchainOpenaiJs({ address, model }: Connection): string {
  return `import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI({
  model: '${model.id}',
  apiKey: process.env.ODYSSEY_KEY,
  configuration: { baseURL: '${address}/v1' },
  maxRetries: 2,
})
const answer = await model.invoke('Hello!')
console.log(answer.text)
`
}

function langchainOpenaiPython({ address, model }: Connection): string {
  return `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="${model.id}",
    api_key=os.environ["ODYSSEY_KEY"],
    base_url="${address}/v1",
)
print(model.invoke("Hello!").content)
`
}

function langchainAnthropicJs({ address, model }: Connection): string {
  return `import { ChatAnthropic } from '@langchain/anthropic'

const model = new ChatAnthropic({
  model: '${model.id}',
  apiKey: process.env.ODYSSEY_KEY,
  anthropicApiUrl: '${address}',
  maxTokens: 1024,
  maxRetries: 2,
})
const answer = await model.invoke('Hello!')
console.log(answer.text)
`
}

function langchainAnthropicPython({ address, model }: Connection): string {
  return `import os
from langchain_anthropic import ChatAnthropic

model = ChatAnthropic(
    model="${model.id}",
    api_key=os.environ["ODYSSEY_KEY"],
    base_url="${address}",
    max_tokens=1024,
)
print(model.invoke("Hello!").content)
`
}

function agentsJs({ address, model }: Connection): string {
  return `import { Agent, OpenAIProvider, Runner } from '@openai/agents'

const modelProvider = new OpenAIProvider({
  baseURL: '${address}/v1',
  apiKey: process.env.ODYSSEY_KEY,
  useResponses: false,
})
const runner = new Runner({ modelProvider, tracingDisabled: true })
const { finalOutput } = await runner.run(new Agent({ name: 'Assistant', model: '${model.id}' }), 'Hello!')
console.log(finalOutput)
`
}

function agentsPython({ address, model }: Connection): string {
  return `import os
from agents import Agent, OpenAIProvider, RunConfig, Runner

provider = OpenAIProvider(
    base_url="${address}/v1",
    api_key=os.environ["ODYSSEY_KEY"],
    use_responses=False,
)
settings = RunConfig(model_provider=provider, tracing_disabled=True)
agent = Agent(name="Assistant", model="${model.id}")
print(Runner.run_sync(agent, "Hello!", run_config=settings).final_output)
`
}
