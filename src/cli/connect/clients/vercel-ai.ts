import type { Connection } from '../connection.ts'
import { reachChat, reachMessages } from '../reach.ts'
import type { SupportedClient } from './client.ts'

export const vercelAi: SupportedClient = {
  name: 'vercel-ai',
  title: 'Vercel AI SDK',
  formats: ['chat', 'messages'],
  setUp: (connection) => ({
    reach:
      connection.format === 'chat'
        ? reachChat(connection.address)
        : reachMessages(connection.address, { base: 'with-v1', authorization: 'x-api-key' }),
    parts: [{ kind: 'snippet', title: 'JavaScript', language: 'js', code: code(connection) }],
    notes: connection.format === 'chat' ? chatNotes : [],
  }),
}

const chatNotes = [
  'Without supportsStructuredOutputs the library leaves schemas out of its requests. Of @ai-sdk/openai only openai.chat(model) works: openai(model) asks /v1/responses, which Odyssey does not offer.',
]

function code({ address, format, model }: Connection): string {
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
