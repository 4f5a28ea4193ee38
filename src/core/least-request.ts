import { modelSampling, type EngineRequest } from './generation.ts'

/** The least there is to ask, on nobody's behalf: one token behind a text. */
export function leastRequest(text: string): EngineRequest {
  return {
    model: 'clarke-1.0',
    messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
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
    owner: { organizationId: 'org_none', apiKeyId: 'key_none' },
    requestId: 'req_none',
  }
}
