import { modelSampling, type EngineRequest, type GenerationRequest } from '../../src/core/generation.ts'

/** A plain question, with whatever a test wants different. */
export function generationRequest(changes: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    model: 'clarke-1.0',
    messages: [{ role: 'user', content: [{ kind: 'text', text: 'Tell me about the small things of life, please.' }] }],
    continuesFinalMessage: false,
    tools: [],
    toolChoice: { kind: 'auto', parallel: true, allowed: null },
    thinking: { kind: 'default' },
    output: { kind: 'text' },
    sampling: modelSampling,
    outputTokensMax: null,
    outputTokensMin: 0,
    stopSequences: [],
    includesStopSequence: false,
    logprobsTop: null,
    choiceCount: 1,
    ...changes,
  }
}

export function engineRequest(changes: Partial<EngineRequest> = {}): EngineRequest {
  const { choiceCount: _, ...request } = generationRequest()
  return {
    ...request,
    thinking: { kind: 'off' },
    outputTokensMax: 400,
    windowTokensMax: 1_000_000,
    owner: { organizationId: 'org_test', apiKeyId: 'key_test' },
    requestId: 'req_test',
    ...changes,
  }
}

export function withSeed(seed: number, temperature = 1): EngineRequest['sampling'] {
  return { ...modelSampling, seed, temperature }
}
