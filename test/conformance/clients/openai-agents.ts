import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import OpenAI from 'openai'
import { defaults, type Asking, type Client } from './client.ts'

/** A runner of its own for each asking; what the documentation sets for the whole process is set here for one. */
export function createRunner({ address, key, fetch }: Asking): Runner {
  const openAIClient = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, fetch })
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses: false }), tracingDisabled: true })
}

const createAgent = ({ model = defaults.model }: Asking) => new Agent({ name: 'Assistant', model })

export const openaiAgents: Client = {
  name: 'OpenAI Agents SDK',
  packages: ['@openai/agents'],
  format: 'chat',
  obeysShouldRetry: true,
  async whole(asking) {
    const result = await createRunner(asking).run(createAgent(asking), asking.prompt ?? defaults.prompt)
    return result.finalOutput ?? ''
  },
  async streamed(asking, onText) {
    const prompt = asking.prompt ?? defaults.prompt
    const result = await createRunner(asking).run(createAgent(asking), prompt, { stream: true })
    for await (const event of result) {
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') onText?.(event.data.delta)
    }
    await result.completed
    return result.finalOutput ?? ''
  },
}
