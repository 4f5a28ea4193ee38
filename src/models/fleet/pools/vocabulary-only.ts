import type { LoadSettings } from '../../../engines/llama/ipc.ts'

/** Settings for a child that loads the vocabulary and the template of a file and nothing else. */
export function vocabularyOnly(weightsPath: string): LoadSettings {
  return {
    weightsPath,
    gpu: 'off',
    slots: null,
    windowTokensMax: 1_000_000,
    threads: null,
    batchTokens: 512,
    isReproducible: false,
    draftTokensMax: 0,
    cacheBytesMax: 0,
    cacheOnDisk: null,
  }
}
