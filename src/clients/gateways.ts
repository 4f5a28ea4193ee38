import { renderSettings } from './settings/render.ts'
import { plannedOutputTokens, type Connection } from './connection.ts'
import { reachChat } from './reach.ts'
import type { SupportedClient } from './client.ts'

export const litellm: SupportedClient = {
  name: 'litellm',
  title: 'LiteLLM',
  formats: ['chat'],
  setUp: (connection) => ({
    reach: reachChat(connection.address),
    parts: [
      {
        kind: 'snippet',
        title: 'Into the file that the proxy is started with (litellm --config config.yaml)',
        language: 'yaml',
        code: renderSettings('yaml', { model_list: models(connection) }),
      },
    ],
  }),
}

function models({ address, models: offeredModels }: Connection) {
  return offeredModels.map((offered) => ({
    model_name: offered.id,
    litellm_params: {
      model: `openai/${offered.id}`,
      api_base: `${address}/v1`,
      api_key: 'os.environ/ODYSSEY_KEY',
    },
    model_info: { max_input_tokens: offered.windowTokens, max_output_tokens: plannedOutputTokens(offered) },
  }))
}

export const openWebui: SupportedClient = {
  name: 'open-webui',
  title: 'Open WebUI',
  formats: ['chat'],
  setUp: ({ address, model }) => ({
    reach: reachChat(address),
    parts: [
      {
        kind: 'snippet',
        title: 'Before its first start',
        language: 'sh',
        code: `export OPENAI_API_BASE_URL=${address}/v1
export OPENAI_API_KEY=$ODYSSEY_KEY
export DEFAULT_MODELS=${model.id}
`,
      },
    ],
    notes: [
      'Open WebUI keeps what these say at its first start; later they are changed under Admin Settings → Connections.',
      'It listens on port 8080 as Odyssey does: give one of the two another port. In a container 127.0.0.1 is the container itself: start Odyssey with HOST=0.0.0.0 and name the address of its machine with --base-url.',
    ],
  }),
}
