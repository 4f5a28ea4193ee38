import { anthropic0, anthropic1 } from './anthropic-sdk.ts'
import type { Client } from './client.ts'
import { langchainClients } from './langchain.ts'
import { openaiAgents } from './openai-agents.ts'
import { openai6, openai7 } from './openai-sdk.ts'
import { vercelClients } from './vercel-ai.ts'

/** Every client library that the tests run in their own process. */
export const clients: readonly Client[] = [
  openai7,
  openai6,
  anthropic1,
  anthropic0,
  ...vercelClients,
  ...langchainClients,
  openaiAgents,
]
