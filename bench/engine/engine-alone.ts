import { runAlone } from '../../src/core/engine.ts'
import { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { engineRequest, withSeed } from '../../test/harness/requests.ts'
import { driverEnvironment } from './odyssey.ts'
import type { Answer, Ask, Contestant, Setting } from './contestant.ts'

/** Odyssey's engine without the service around it: the difference is what HTTP, keys and the ledger cost. */
export async function startEngineAlone(setting: Setting): Promise<Contestant> {
  const engine = await openEngine(setting, 0)
  return {
    name: 'Engine alone',
    ask: (ask) => answer(engine, ask, setting.temperature),
    restart: null,
    stop: () => engine.close(),
  }
}

/** Starts an engine and waits until it is ready. Rejects where it ends before. */
export function openEngine(setting: Omit<Setting, 'temperature'>, draftTokensMax: number): Promise<LlamaEngine> {
  return new Promise((resolve, reject) => {
    const engine = new LlamaEngine({
      settings: {
        weightsPath: setting.weightsPath,
        gpu: setting.gpu,
        slots: setting.slots,
        windowTokensMax: setting.windowTokens,
        threads: setting.threads,
        batchTokens: setting.batchTokens,
        isReproducible: false,
        draftTokensMax,
        cacheBytesMax: setting.cacheBytes,
        cacheOnDisk: null,
      },
      environment: { PATH: process.env['PATH'] ?? '', ...driverEnvironment() },
      clock: systemClock,
      // Later, when the variable has its value: a child is never ready at once.
      onReady: () => resolve(engine),
      onExit: (reason) => {
        reject(new Error(`The engine ended: ${reason}.`))
        void engine.close()
      },
      onOutput: (line) => console.error(line),
    })
  })
}

async function answer(engine: LlamaEngine, { system, question, tokens }: Ask, temperature: number): Promise<Answer> {
  const request = engineRequest({
    messages: [
      { role: 'system', content: [{ kind: 'text', text: system }] },
      { role: 'user', content: [{ kind: 'text', text: question }] },
    ],
    outputTokensMin: tokens,
    outputTokensMax: tokens,
    sampling: withSeed(1, temperature),
  })
  const startMs = performance.now()
  const textsMs: number[] = []
  for await (const event of runAlone(engine, request, new AbortController().signal)) {
    if (event.type === 'delta') textsMs.push(performance.now())
    if (event.type !== 'finish') continue
    const { inputUncached, inputCacheRead, inputCacheWrite, output } = event.usage
    const endMs = performance.now()
    return {
      promptTokens: inputUncached + inputCacheRead + inputCacheWrite,
      cachedTokens: inputCacheRead,
      outputTokens: output,
      startMs,
      firstMs: textsMs[0] ?? endMs,
      endMs,
      textsMs,
    }
  }
  throw new Error('An answer did not end.')
}
