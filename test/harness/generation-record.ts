import type { GenerationRecord } from '../../src/telemetry/generation-record.ts'

/** A generation that went well. */
export const generationRecord: GenerationRecord = {
  requestId: 'req_1',
  model: 'tycho-1.0',
  outcome: 'finished',
  reason: 'end',
  usage: {
    inputUncached: 5,
    inputCacheRead: 3,
    inputCacheWrite: 2,
    inputCacheWriteLong: 0,
    output: 11,
    outputThinking: 4,
  },
  queueMs: 10,
  prefillMs: 20,
  firstTokenMs: 30,
  durationMs: 130,
  costMicros: 7,
}
