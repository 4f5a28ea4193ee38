import { startService, type Service } from '../../test/harness/start-service.ts'
import type { Contestant, Setting } from './contestant.ts'
import { readAnswer } from './read-answer.ts'

/** Where the driver of a graphics card and its libraries are found, and where it keeps what it has compiled. */
const driverVariables = ['HOME', 'LD_LIBRARY_PATH', 'CUDA_PATH', 'CUDA_VISIBLE_DEVICES']

export function driverEnvironment(): Record<string, string> {
  const set = driverVariables.map((name) => [name, process.env[name]] as const)
  return Object.fromEntries(set.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])))
}

/** The whole service, asked by a client with a key. `changes` are further fields of the config file's `engine`. */
export async function startOdyssey(setting: Setting, changes: Record<string, unknown>): Promise<Contestant> {
  const weights = { weights: setting.weightsPath }
  let service: Service = await startService({
    config: {
      // Weights that all models share are loaded once.
      models: { 'clarke-1.0': weights, 'hal-1.0': weights, 'tycho-1.0': weights },
      engine: {
        gpu: setting.gpu,
        slots: setting.slots,
        threads: setting.threads,
        windowTokensMax: setting.windowTokens,
        batchTokens: setting.batchTokens,
        cacheBytesMax: setting.cacheBytes,
        // Greedy sampling of random weights soon repeats itself, which says nothing of an answer's speed.
        speculation: 'off',
        ...changes,
      },
    },
    environment: driverEnvironment(),
  })
  return {
    name: 'Odyssey',
    ask: ({ system, question, tokens }) =>
      readAnswer(service.address, service.key, {
        model: 'clarke-1.0',
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: question },
        ],
        temperature: setting.temperature,
        max_tokens: tokens,
        min_tokens: tokens,
      }),
    async restart() {
      await service.stop()
      service = await service.restart()
    },
    stop: () => service.stop(),
  }
}
