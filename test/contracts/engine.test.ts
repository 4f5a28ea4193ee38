import { fileURLToPath } from 'node:url'
import { FakeEngine } from '../../src/engines/fake/fake-engine.ts'
import { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { describeEngineContract } from './engine.ts'

describeEngineContract('fake', () => Promise.resolve(new FakeEngine()))

describeEngineContract('llama', () =>
  Promise.resolve(
    new LlamaEngine({
      settings: {
        weightsPath: fileURLToPath(new URL('../../weights/placeholder.gguf', import.meta.url)),
        gpu: 'off',
        slots: 4,
        windowTokensMax: 8_192,
        threads: 1,
        batchTokens: 256,
      },
      environment: { PATH: process.env['PATH'] ?? '' },
      clock: systemClock,
      onReady: () => {},
      onExit: () => {},
      onOutput: () => {},
    }),
  ),
)
