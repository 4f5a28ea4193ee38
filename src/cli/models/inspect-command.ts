import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { describeFitness } from '../../chat-format/fitness-report.ts'
import { loadText } from '../../engines/llama/child/native.ts'
import { createTextTools } from '../../engines/text/text-tools.ts'
import { inspectWeights } from '../../engines/llama/gguf/inspect-weights.ts'
import { type ChatSettings, chatSettings } from '../../config/models-schema.ts'
import { messageOf } from '../../lib/message-of.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'

/** More special tokens than these say nothing that the first ones do not. */
const tokensShown = 24

/** `odyssey models inspect`: prints what is derived from the chat template of a GGUF file. */
export async function inspectCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({
    args,
    options: { json: { type: 'boolean', default: false }, chat: { type: 'string' } },
    words: 1,
  })
  const [file] = positionals
  if (file === undefined) throw new UsageError('models inspect takes one GGUF file.')
  const weightsPath = resolve(file)
  if (!existsSync(weightsPath)) throw new UsageError(`There is no file ${weightsPath}.`)
  const { architecture, metadata } = inspectWeights(weightsPath)
  const trained = metadata[`${architecture}.context_length`]
  const native = await loadText({ weightsPath })
  const { vocabulary, fitness } = createTextTools(native, values.chat === undefined ? null : readChat(values.chat))
  const textOf = (token: number) => native.vocabulary.getTokenString(token)
  const report = {
    file: weightsPath,
    architecture,
    windowTokens: typeof trained === 'number' ? trained : null,
    hasTemplate: native.chatTemplate !== null,
    ...fitness,
    stopTokens: vocabulary.endTokens.map(textOf),
    reservedTokens: vocabulary.specialTokens.filter(({ isReserved }) => isReserved).map(({ text }) => text),
  }
  if (values.json) return console.log(JSON.stringify(report))
  console.log(`Weights: ${architecture}, trained for ${report.windowTokens ?? '?'} tokens`)
  if (!report.hasTemplate) console.log('Chat template: none in the file, so a plain one is used')
  for (const line of describeFitness(fitness)) console.log(line)
  console.log(`An answer ends with: ${listOf(report.stopTokens)}`)
  console.log(`A client may not write: ${listOf(report.reservedTokens)}`)
}

/** What the configuration may say under `chat`, to be tried before it is written there. */
function readChat(text: string): ChatSettings {
  try {
    return chatSettings.parse(JSON.parse(text))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)
    throw new UsageError(`--chat takes what the configuration says under "chat". ${reason}`)
  }
}

function listOf(texts: readonly string[]): string {
  const shown = texts.slice(0, tokensShown).join(' ')
  const more = texts.length - tokensShown
  return texts.length === 0 ? 'no token' : more > 0 ? `${shown} and ${more} more` : shown
}
