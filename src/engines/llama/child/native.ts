// The one file that reaches below node-llama-cpp's public classes. Its sequences run a
// loop of their own each and meet in a queue with locks; driving the context directly
// gives one loop that knows every slot, can stop between any two steps and adds no
// round trip. The members used are those of the exact version pinned in package.json.

import { getLlama, LlamaLogLevel, type LlamaContext, type LlamaModel } from 'node-llama-cpp'
import type { LoadSettings } from '../ipc.ts'

/** Where a token's logits stand in the batch that was just decoded. */
export type LogitIndex = number & { readonly brand: 'logit-index' }

export type SamplerConfig = {
  readonly temperature: number
  readonly topP: number
  readonly topK: number
  readonly minP: number
  readonly seed: number
  readonly repeatPenalty?: number
  readonly repeatPenaltyMaxTokens?: number
  readonly repeatPenaltyTokens?: Uint32Array
  readonly repeatPenaltyPresencePenalty?: number
  readonly repeatPenaltyFrequencyPenalty?: number
}

export interface NativeSampler {
  applyConfig(config: SamplerConfig): void
  dispose(): void
}

export interface NativeContext {
  initBatch(size: number): void
  addToBatch(sequenceId: number, position: number, tokens: Uint32Array, logitAt: Uint32Array): ArrayLike<LogitIndex>
  decodeBatch(): Promise<void>
  sampleToken(index: LogitIndex, sampler: NativeSampler): Promise<number>
  /** Forgets everything the sequence holds. */
  disposeSequence(sequenceId: number): void
}

export interface NativeVocabulary {
  tokenize(text: string, takesSpecialTokens: boolean): Uint32Array
  detokenize(tokens: Uint32Array, showsSpecialTokens: boolean): string
  getTokenString(token: number): string
  getTokenAttributes(token: number): number
  isEogToken(token: number): boolean
  tokenBos(): number
  tokenEos(): number
  getVocabularyType(): number
  shouldPrependBosToken(): boolean
}

export type Native = {
  readonly context: NativeContext
  readonly vocabulary: NativeVocabulary
  readonly vocabularySize: number
  readonly chatTemplate: string | null
  readonly modelName: string
  readonly slots: number
  /** Cells of one slot: prompt and answer together. */
  readonly windowTokens: number
  readonly batchTokens: number
  createSampler(): NativeSampler
}

type Internals = {
  readonly model: { readonly _model: NativeVocabulary }
  readonly context: { readonly _ctx: NativeContext }
  readonly llama: { readonly _bindings: { readonly AddonSampler: new (model: unknown) => NativeSampler } }
}

/** Slots an operator's choice is missing for: enough for a team's agents, few enough for one machine's memory. */
const slotsDefault = 8
/** With less room per slot than this, fewer slots serve better than smaller ones. */
const comfortableWindowTokens = 32_768

export async function loadNative(settings: LoadSettings): Promise<Native> {
  const llama = await getLlama({
    gpu: settings.gpu === 'off' ? false : settings.gpu,
    build: 'never',
    skipDownload: true,
    logLevel: LlamaLogLevel.error,
    progressLogs: false,
  })
  const model = await llama.loadModel({ modelPath: settings.weightsPath })
  const context = await createContext(model, settings)
  const internals = { model, context, llama } as unknown as Internals
  return {
    context: internals.context._ctx,
    vocabulary: internals.model._model,
    vocabularySize: model.fileInfo.metadata.tokenizer?.ggml?.tokens?.length ?? countTokens(model),
    chatTemplate: model.fileInfo.metadata.tokenizer?.chat_template ?? null,
    modelName: model.fileInfo.metadata.general?.name ?? '',
    slots: context.totalSequences,
    windowTokens: context.contextSize,
    batchTokens: context.batchSize,
    createSampler: () => new internals.llama._bindings.AddonSampler(internals.model._model),
  }
}

/**
 * A step of a model this small is over before a second thread has woken up, and on a
 * busy machine the threads then mostly wait for each other: measured 3 to 2,800 tokens/s.
 */
const singleThreadedBytesMax = 64 * 1024 * 1024

async function createContext(model: LlamaModel, settings: LoadSettings): Promise<LlamaContext> {
  const windowTokens = Math.min(model.trainContextSize, settings.windowTokensMax)
  const threads = settings.threads ?? (model.size <= singleThreadedBytesMax ? 1 : null)
  let slots = settings.slots ?? slotsDefault
  for (;;) {
    const context = await model.createContext({
      sequences: slots,
      contextSize: { max: windowTokens },
      batchSize: settings.batchTokens,
      ...(threads !== null && { threads }),
    })
    const isRoomy = context.contextSize >= Math.min(windowTokens, comfortableWindowTokens)
    if (settings.slots !== null || slots === 1 || isRoomy) return context
    await context.dispose()
    slots = Math.ceil(slots / 2)
  }
}

function countTokens(model: LlamaModel): number {
  let count = 0
  for (const _ of model.iterateAllTokens()) count += 1
  return count
}
