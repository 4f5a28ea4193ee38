import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from '@anthropic-ai/sdk-0'
import { defaults, type Asking, type Client } from './client.ts'

function createClient(name: string, packages: readonly string[], Library: typeof Anthropic): Client {
  const messagesOf = ({ address, key, fetch }: Asking) => new Library({ baseURL: address, apiKey: key, fetch }).messages
  const fieldsOf = ({ model = defaults.model, prompt = defaults.prompt }: Asking) => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }]
    return { model, max_tokens: 500, messages }
  }
  return {
    name,
    packages,
    format: 'messages',
    obeysShouldRetry: true,
    async whole(asking) {
      const { content } = await messagesOf(asking).create(fieldsOf(asking))
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    },
    async streamed(asking, onText) {
      const stream = messagesOf(asking).stream(fieldsOf(asking))
      if (onText !== undefined) stream.on('text', (piece) => onText(piece))
      return stream.finalText()
    },
  }
}

// The newest version and the last of the 0.x line, which sends its key in another header.
export const anthropic1 = createClient('Anthropic SDK 1', ['@anthropic-ai/sdk'], Anthropic)
export const anthropic0 = createClient(
  'Anthropic SDK 0',
  ['@anthropic-ai/sdk-0'],
  Anthropic0 as unknown as typeof Anthropic,
)
