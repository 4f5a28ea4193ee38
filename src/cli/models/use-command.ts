import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { partPaths } from '../../engines/llama/gguf/inspect-weights.ts'
import { writeDigest } from '../../models/weights/weights-digests.ts'
import { makeHome } from '../../service/joins/make-home.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { requireModel } from './require-model.ts'
import { requireOpenChoice, useWeights } from './use-weights.ts'

const options = { 'built-in': { type: 'boolean', default: false } } as const

/** `odyssey models use`: gives a model other weights, also while the service runs. */
export async function useCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [name, file, ...others] = positionals
  const model = requireModel(name)
  const isBuiltIn = values['built-in']
  if (others.length > 0 || isBuiltIn === (file !== undefined)) {
    throw new UsageError('models use takes a model and either a GGUF file or --built-in.')
  }
  const config = loadConfig()
  requireOpenChoice(config, model)
  const chosen = file === undefined ? null : { weights: resolve(file), source: null, sha256: null }
  makeHome(config)
  // Who names a file means it as it is now, whatever it was before.
  if (chosen !== null) for (const path of partPaths(chosen.weights)) writeDigest(config.home, path, null)
  console.log(await useWeights(config, model, chosen))
}
