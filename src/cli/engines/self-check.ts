import { modelSampling, type EngineRequest } from '../../core/generation.ts'
import type { Engine } from '../../core/engine.ts'

/** A first token may need all weights read from a slow disk. */
const answerMsMax = 300_000

/** The least there is to ask: whoever answers it has a template, a context and a sampler that work. */
const request: EngineRequest = {
  model: 'clarke-1.0',
  messages: [{ role: 'user', content: [{ kind: 'text', text: 'Hello' }] }],
  continuesFinalMessage: false,
  tools: [],
  toolChoice: { kind: 'auto', parallel: true, allowed: null },
  thinking: { kind: 'off' },
  output: { kind: 'text' },
  sampling: modelSampling,
  outputTokensMax: 1,
  outputTokensMin: 0,
  stopSequences: [],
  includesStopSequence: false,
  logprobsTop: null,
  windowTokensMax: 1_000_000,
  tenant: { organizationId: 'org_none', apiKeyId: 'key_none' },
  requestId: 'req_none',
}

/** Has an engine generate one token. Throws when it cannot. */
export async function selfCheck(engine: Engine): Promise<void> {
  for await (const event of engine.generate(request, AbortSignal.timeout(answerMsMax))) {
    if (event.type === 'finish') return
  }
  throw new Error('The engine ended its answer without finishing it.')
}
