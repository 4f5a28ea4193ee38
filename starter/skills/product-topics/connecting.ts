import { howTo } from '../../words/topics-asking.ts'
import { topic, type Topic } from './topic.ts'

const openAiAddress = 'http://127.0.0.1:8080/v1'
const anthropicAddress = 'http://127.0.0.1:8080'

/** How people ask to connect a client, whatever it is called. */
function connect(...names: readonly string[]): readonly string[] {
  const name = `[${names.join('|')}]`
  const here = '[ to Odyssey| with Odyssey| to this server| to this service| to you| to the local server|||]'
  return [
    ...howTo(
      `[connect|hook up|link|point|attach] ${name}${here}`,
      `[configure|set up|setup] ${name}[ for Odyssey| for this server| to talk to Odyssey| for use with Odyssey|]`,
      `use ${name}[ with Odyssey| with this server| with you| here| against Odyssey]`,
      `[get|make] ${name} [work|working|talk|run] with Odyssey`,
    ),
    `[Does|Will] ${name} work with [Odyssey|this server|you]?`,
    `[Can|May] I use ${name} with [Odyssey|this server|this service|hal-1.0|clarke-1.0|tycho-1.0]?`,
    `[Which|What] [settings|base URL|address|configuration|options|config] [do I need for|do I use for|goes into|do I enter in|belongs in] ${name}?`,
    `[Give|Show] me [an example|a snippet|the settings|the configuration|the config|the setup] for ${name}.`,
    `${name}[ setup| settings| configuration| config| example| with Odyssey| connection|: how?|: which settings?]`,
    `[I use|I have|We use|I am using|I installed|We have] ${name}. [How do I connect it?|Which settings does it need?|How do I point it at Odyssey?|What do I enter?|How can it talk to Odyssey?]`,
  ]
}

const otherClients =
  `Open WebUI, LibreChat, Cursor, LobeChat, Jan, Zed, Aider, LlamaIndex, Raycast, n8n, AnythingLLM, Roo Code, Goose, Chatbox, SillyTavern, Dify, Flowise, Haystack, LiteLLM, Semantic Kernel, DSPy, CrewAI, AutoGen, Msty, BoltAI, TypingMind, Obsidian Copilot, Postman, the Go SDK, the Ruby SDK, the Java SDK, the .NET SDK, my own app, my app, my program, my script, another client, some other client, any client, any other client, a different client, my chat app, my chatbot, my editor, my own client, a client that is not listed, our backend, our web app, an existing client, an OpenAI-compatible client`.split(
    ', ',
  )

/** One topic for every client that the documents name, and one for all others. */
export const connecting: readonly Topic[] = [
  topic(
    'the OpenAI Python SDK',
    connect(
      'the OpenAI Python SDK',
      'the OpenAI SDK for Python',
      'OpenAI in Python',
      'the openai Python package',
      'the Python OpenAI client',
      'the OpenAI Python library',
      'openai python',
      'pip install openai',
      'my Python code with openai',
    ),
    `Give the client the base URL with /v1:\n\`\`\`python\nfrom openai import OpenAI\n\nclient = OpenAI(base_url="${openAiAddress}", api_key="YOUR_KEY")\n\`\`\`\nUse clarke-1.0 as the model.`,
    ['from openai import OpenAI', `base_url="${openAiAddress}"`],
  ),
  topic(
    'the OpenAI JavaScript SDK',
    connect(
      'the OpenAI JavaScript SDK',
      'the OpenAI SDK for JavaScript',
      'the OpenAI TypeScript SDK',
      'the OpenAI Node SDK',
      'OpenAI in Node',
      'OpenAI in JavaScript',
      'the openai npm package',
      'the openai package for Node.js',
      'OpenAI in TypeScript',
      'openai js',
      'npm install openai',
    ),
    `Give the client the base URL with /v1:\n\`\`\`js\nimport OpenAI from 'openai'\n\nconst client = new OpenAI({ baseURL: '${openAiAddress}', apiKey: process.env.ODYSSEY_KEY })\n\`\`\`\nUse clarke-1.0 as the model.`,
    ["import OpenAI from 'openai'", `baseURL: '${openAiAddress}'`],
  ),
  topic(
    'the Anthropic Python SDK',
    connect(
      'the Anthropic Python SDK',
      'the Anthropic SDK for Python',
      'Anthropic in Python',
      'the anthropic Python package',
      'the Python Anthropic client',
      'the Anthropic Python library',
      'anthropic python',
      'pip install anthropic',
      'my Python code with anthropic',
    ),
    `Give the client the base URL without /v1:\n\`\`\`python\nfrom anthropic import Anthropic\n\nclient = Anthropic(base_url="${anthropicAddress}", api_key="YOUR_KEY")\n\`\`\`\nUse clarke-1.0 as the model.`,
    ['from anthropic import Anthropic', `base_url="${anthropicAddress}"`],
  ),
  topic(
    'the Anthropic TypeScript SDK',
    connect(
      'the Anthropic TypeScript SDK',
      'the Anthropic JavaScript SDK',
      'the Anthropic SDK for TypeScript',
      'the Anthropic SDK for JavaScript',
      'Anthropic in Node',
      'Anthropic in JavaScript',
      'Anthropic in TypeScript',
      'the @anthropic-ai/sdk package',
      'the anthropic npm package',
      'anthropic js',
      'the Anthropic Node SDK',
    ),
    `Give the client the base URL without /v1:\n\`\`\`js\nimport Anthropic from '@anthropic-ai/sdk'\n\nconst client = new Anthropic({ baseURL: '${anthropicAddress}', apiKey: process.env.ODYSSEY_KEY })\n\`\`\`\nUse clarke-1.0 as the model.`,
    ["import Anthropic from '@anthropic-ai/sdk'", `baseURL: '${anthropicAddress}'`],
  ),
  topic(
    'the Vercel AI SDK',
    connect(
      'the Vercel AI SDK',
      'Vercel AI SDK',
      'the AI SDK by Vercel',
      'the AI SDK from Vercel',
      "Vercel's AI SDK",
      'the Vercel SDK',
      'Vercel AI',
      '@ai-sdk/openai-compatible',
    ),
    `Give the provider the base URL with /v1:\n\`\`\`js\nimport { createOpenAICompatible } from '@ai-sdk/openai-compatible'\n\nconst odyssey = createOpenAICompatible({ name: 'odyssey', baseURL: '${openAiAddress}', apiKey: process.env.ODYSSEY_KEY })\n\`\`\`\nUse odyssey('clarke-1.0') as the model.`,
    ['createOpenAICompatible', `baseURL: '${openAiAddress}'`],
  ),
  topic(
    'LangChain',
    connect(
      'LangChain',
      'langchain',
      'LangChain OpenAI',
      'LangChain in Python',
      'the LangChain library',
      'ChatOpenAI from LangChain',
      'langchain_openai',
      'LangChain agents',
    ),
    `Give ChatOpenAI the base URL with /v1:\n\`\`\`python\nfrom langchain_openai import ChatOpenAI\n\nmodel = ChatOpenAI(model="clarke-1.0", base_url="${openAiAddress}", api_key="YOUR_KEY")\n\`\`\``,
    ['ChatOpenAI(model="clarke-1.0"', `base_url="${openAiAddress}"`],
  ),
  topic(
    'the OpenAI Agents SDK',
    connect(
      'the OpenAI Agents SDK',
      'OpenAI Agents SDK',
      'the Agents SDK',
      'the Agents SDK from OpenAI',
      'openai-agents',
      'OpenAI Agents',
    ),
    `The OpenAI Agents SDK takes the base URL with /v1: ${openAiAddress}. Give it your Odyssey key, choose chat completions, and use clarke-1.0 as the model.`,
    ['OpenAI Agents SDK', openAiAddress, 'chat completions'],
  ),
  topic(
    'Claude Code',
    connect(
      'Claude Code',
      'claude code',
      'the Claude Code CLI',
      'Claude Code in the terminal',
      'the claude command',
      'Claude Code agent',
    ),
    `Set three variables and start claude:\n\`\`\`sh\nexport ANTHROPIC_BASE_URL=${anthropicAddress}\nexport ANTHROPIC_AUTH_TOKEN=$ODYSSEY_KEY\nexport ANTHROPIC_MODEL=clarke-1.0\n\`\`\``,
    [`ANTHROPIC_BASE_URL=${anthropicAddress}`, 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_MODEL=clarke-1.0'],
  ),
  topic(
    'OpenCode',
    connect('OpenCode', 'opencode', 'the OpenCode CLI', 'the opencode agent', 'Open Code', 'opencode.json'),
    `In opencode.json add a provider with the npm package @ai-sdk/openai-compatible, the baseURL ${openAiAddress}, your Odyssey key as apiKey, and the model clarke-1.0.`,
    ['opencode.json', openAiAddress, 'clarke-1.0'],
  ),
  topic(
    'Qwen Code',
    connect('Qwen Code', 'qwen code', 'the Qwen Code CLI', 'the qwen command', 'Qwen Code agent', 'qwen-code'),
    `Set three variables and start qwen:\n\`\`\`sh\nexport OPENAI_BASE_URL=${openAiAddress}\nexport OPENAI_API_KEY=$ODYSSEY_KEY\nexport OPENAI_MODEL=clarke-1.0\n\`\`\``,
    [`OPENAI_BASE_URL=${openAiAddress}`, 'OPENAI_API_KEY', 'OPENAI_MODEL=clarke-1.0'],
  ),
  topic(
    'Cline',
    connect('Cline', 'cline', 'the Cline extension', 'Cline in VS Code', 'the Cline plugin', 'Cline agent'),
    `In Cline choose the API provider "OpenAI Compatible", and enter the base URL ${openAiAddress}, your Odyssey key, and the model clarke-1.0.`,
    ['OpenAI Compatible', openAiAddress, 'clarke-1.0'],
  ),
  topic(
    'Continue',
    connect(
      'Continue',
      'Continue.dev',
      'the Continue extension',
      'Continue in VS Code',
      'the Continue plugin',
      'Continue in JetBrains',
    ),
    `In Continue's config.yaml add a model with provider: openai, apiBase: ${openAiAddress}, your Odyssey key as apiKey, and model: clarke-1.0.`,
    ['config.yaml', `apiBase: ${openAiAddress}`, 'clarke-1.0'],
  ),
  topic(
    'curl',
    connect(
      'curl',
      'cURL',
      'curl in the terminal',
      'the curl command',
      'curl on the command line',
      'plain curl',
    ).concat(
      '[Give|Show|Write] me a curl [command|example|request|call].',
      '[How do I|How can I] [send|make|write] a request with curl?',
      '[Send|Ask] [a message|something|a question] with curl[?|.]',
    ),
    `\`\`\`sh\ncurl ${openAiAddress}/chat/completions \\\n  -H "Authorization: Bearer $ODYSSEY_KEY" \\\n  -d '{"model": "clarke-1.0", "messages": [{"role": "user", "content": "Hello!"}]}'\n\`\`\``,
    [`curl ${openAiAddress}/chat/completions`, 'Authorization: Bearer $ODYSSEY_KEY'],
  ),
  {
    ...topic(
      'connecting a client',
      connect('{client}').concat(
        '[How do I|How can I|How do we] connect [a|my|the] client[ to Odyssey| to this server|]?',
        '[Which|What] clients [work with Odyssey|can I use|are supported|can connect]?',
        '[What does|What do] [a client|clients] need[ to connect| to talk to Odyssey|]?',
      ),
      `Any client that speaks the OpenAI or the Anthropic format works. Set the base address ${openAiAddress} (Anthropic format: without /v1), your Odyssey key, and the model clarke-1.0.`,
      [openAiAddress, 'key', 'clarke-1.0'],
    ),
    slots: { client: otherClients },
  },
]
