import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { ChatOpenAI } from '@langchain/openai'
import { defaults, type Asking, type Client } from './client.ts'

export type ChatModel = Pick<Client, 'name' | 'packages' | 'format'> & {
  create(asking: Asking): BaseChatModel & Required<Pick<BaseChatModel, 'bindTools'>>
}

/** Six, with pauses of up to a minute, are the default: far more than anybody waits for an answer. */
const maxRetries = 2

export const chatModels: readonly ChatModel[] = [
  {
    name: 'LangChain, openai',
    packages: ['@langchain/openai', '@langchain/core'],
    format: 'chat',
    create({ address, key, fetch, model = defaults.model }) {
      const configuration = { baseURL: `${address}/v1`, fetch }
      return new ChatOpenAI({ model, apiKey: key, maxRetries, configuration })
    },
  },
  {
    name: 'LangChain, anthropic',
    packages: ['@langchain/anthropic', '@langchain/core'],
    format: 'messages',
    create({ address, key, fetch, model = defaults.model }) {
      const settings = { apiKey: key, anthropicApiUrl: address, clientOptions: { fetch } }
      return new ChatAnthropic({ model, maxRetries, maxTokens: 500, ...settings })
    },
  },
]

function createClient({ create, ...identity }: ChatModel): Client {
  return {
    ...identity,
    obeysShouldRetry: false,
    whole: async (asking) => (await create(asking).invoke(asking.prompt ?? defaults.prompt)).text,
    async streamed(asking, onText) {
      let text = ''
      for await (const chunk of await create(asking).stream(asking.prompt ?? defaults.prompt)) {
        text += chunk.text
        if (chunk.text !== '') onText?.(chunk.text)
      }
      return text
    },
  }
}

export const langchainClients: readonly Client[] = chatModels.map(createClient)
