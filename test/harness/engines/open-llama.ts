import { compileCache } from '../as-launched.ts'
import { LlamaEngine, type LlamaEngineOptions } from '../../../src/engines/llama/llama-engine.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { placeholderPath } from './placeholder-path.ts'

type Settings = LlamaEngineOptions['settings']

/** The real engine on the placeholder weights, with whatever a test wants different. */
export function openLlama(changes: Partial<Settings> = {}, options: Partial<LlamaEngineOptions> = {}): LlamaEngine {
  return new LlamaEngine({
    settings: {
      weightsPath: placeholderPath,
      gpu: 'off',
      slots: 2,
      windowTokensMax: 8_192,
      threads: 1,
      batchTokens: 128,
      isReproducible: false,
      draftTokensMax: 0,
      cacheBytesMax: 0,
      cacheOnDisk: null,
      ...changes,
    },
    environment: { PATH: process.env['PATH'] ?? '', ...compileCache },
    clock: systemClock,
    // On a machine that does much else it takes as long as it takes.
    readyWaitMsMax: 120_000,
    onReady: () => {},
    onExit: () => {},
    onOutput: () => {},
    ...options,
  })
}
