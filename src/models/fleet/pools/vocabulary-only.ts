import { statSync } from 'node:fs'
import type { LoadSettings } from '../../../engines/llama/ipc.ts'
import type { ChildOptions } from '../../../engines/llama/supervisor.ts'
import { isTokenizerFolder, tokenizerFiles } from '../../../engines/text/tokenizer-folder.ts'

/** The same for a GGUF and for a folder with a `tokenizer.json`, of which all files may be read and none is checked as weights. */
export function vocabularyOptions(path: string): Pick<ChildOptions, 'settings' | 'checkWeights'> {
  const settings = vocabularyOnly(path)
  if (!isTokenizerFolder(path)) return { settings }
  return {
    settings,
    async checkWeights() {
      const paths = tokenizerFiles(path)
      const bytes = paths.reduce((sum, file) => sum + statSync(file).size, 0)
      return { paths, bytes, architecture: 'tokenizer', metadata: {} }
    },
  }
}

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
