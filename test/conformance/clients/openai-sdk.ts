import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { defaults, type Asking, type Client } from './client.ts'

function createClient(name: string, packages: readonly string[], Library: typeof OpenAI): Client {
  const completions = ({ address, key, fetch }: Asking) =>
    new Library({ baseURL: `${address}/v1`, apiKey: key, fetch }).chat.completions
  const fieldsOf = ({ model = defaults.model, prompt = defaults.prompt }: Asking) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: prompt }]
    return { model, messages }
  }
  return {
    name,
    packages,
    format: 'chat',
    obeysShouldRetry: true,
    async whole(asking) {
      const answer = await completions(asking).create(fieldsOf(asking))
      return answer.choices[0]?.message.content ?? ''
    },
    async streamed(asking, onText) {
      const stream = completions(asking).stream(fieldsOf(asking))
      if (onText !== undefined) stream.on('content', (piece) => onText(piece))
      return (await stream.finalContent()) ?? ''
    },
  }
}

// The newest version and the one before it: both are in use.
export const openai7 = createClient('OpenAI SDK 7', ['openai'], OpenAI)
export const openai6 = createClient('OpenAI SDK 6', ['openai-6'], OpenAI6 as unknown as typeof OpenAI)
