import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, streamText, type LanguageModel } from 'ai'
import { defaults, type Asking, type Client } from './client.ts'

export type Provider = {
  readonly name: string
  readonly package: string
  readonly format: Client['format']
  model(asking: Asking): Exclude<LanguageModel, string>
}

// It prints what a provider leaves out of a request for models that it does not know.
globalThis.AI_SDK_LOG_WARNINGS = false

const settingsOf = ({ address, key, fetch }: Asking) => ({ baseURL: `${address}/v1`, apiKey: key, fetch })

export const providers: readonly Provider[] = [
  {
    name: 'AI SDK, openai-compatible',
    package: '@ai-sdk/openai-compatible',
    format: 'chat',
    model: (asking) =>
      // Without these two it sends no schema and asks a stream for no usage.
      createOpenAICompatible({
        name: 'odyssey',
        ...settingsOf(asking),
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(asking.model ?? defaults.model),
  },
  {
    name: 'AI SDK, openai in chat mode',
    package: '@ai-sdk/openai',
    format: 'chat',
    model: (asking) => createOpenAI(settingsOf(asking)).chat(asking.model ?? defaults.model),
  },
  {
    name: 'AI SDK, anthropic',
    package: '@ai-sdk/anthropic',
    format: 'messages',
    model: (asking) => createAnthropic(settingsOf(asking))(asking.model ?? defaults.model),
  },
]

function createClient({ name, package: own, format, model }: Provider): Client {
  const fieldsOf = (asking: Asking) => ({
    model: model(asking),
    prompt: asking.prompt ?? defaults.prompt,
    maxOutputTokens: 500,
  })
  return {
    name,
    packages: [own, 'ai'],
    format,
    obeysShouldRetry: false,
    whole: async (asking) => (await generateText(fieldsOf(asking))).text,
    async streamed(asking, onText) {
      // What went wrong is told here alone; the text then only says that there is none.
      const errors: unknown[] = []
      const result = streamText({ ...fieldsOf(asking), onError: ({ error }) => void errors.push(error) })
      try {
        for await (const piece of result.textStream) onText?.(piece)
        return await result.text
      } catch (error) {
        throw errors[0] ?? error
      }
    },
  }
}

export const vercelClients = providers.map(createClient)
