// The one file that reaches below node-llama-cpp's public classes. Its sequences run a
// loop of their own each and meet in a queue with locks; driving the context directly
// gives one loop that knows every slot, can stop between any two steps and adds no
// round trip. The members used are those of the exact version pinned in package.json.

import type { Llama, LlamaModel } from 'node-llama-cpp'
import type { CardsInUse, LoadSettings } from '../ipc.ts'
import { createContext, windowOf } from './create-context.ts'
import { openLibrary } from './open-library.ts'
import { inspectFile } from '../gguf/inspect-weights.ts'
import { scaleHeader } from '../gguf/rope-scaling.ts'
import {
  createSequenceMemory,
  type NativeCheckpoint,
  type NativeSequences,
  type SequenceMemory,
} from './prompt-cache/sequence-memory.ts'
import { createStateRoom, type StateRoom } from './prompt-cache/state-room.ts'
import { chooseThreads, type ThreadsChosen } from './threads/choose-threads.ts'
import type { NativeText, NativeVocabulary } from '../../text/vocabulary.ts'
import { ChoosingTime } from './sampling/choosing-time.ts'
import { SamplerPool } from './sampling/sampler-pool.ts'

/** Where a token's logits stand in the batch that was just decoded. */
export type LogitIndex = number & { readonly brand: 'logit-index' }

export type SamplerConfig = {
  readonly temperature: number
  readonly topP: number
  /** Left out it does not limit; zero would sort the whole vocabulary for nothing. */
  readonly topK?: number
  readonly minP: number
  readonly seed: number
  readonly repeatPenalty?: number
  readonly repeatPenaltyMaxTokens?: number
  readonly repeatPenaltyTokens?: Uint32Array
  readonly repeatPenaltyPresencePenalty?: number
  readonly repeatPenaltyFrequencyPenalty?: number
  readonly tokenBiasKeys?: Uint32Array
  readonly tokenBiasValues?: Float32Array
  readonly grammarEvaluationState?: GrammarState
}

/** How far a text has come in a grammar; the sampler moves it on with each token it chooses. */
export type GrammarState = { readonly brand: 'grammar-state' }

export interface NativeSampler {
  applyConfig(config: SamplerConfig): void
  dispose(): void
}

export interface NativeContext {
  initBatch(size: number): void
  addToBatch(sequenceId: number, position: number, tokens: Uint32Array, logitAt: Uint32Array): ArrayLike<LogitIndex>
  decodeBatch(): Promise<void>
  /** The next steps are computed by so many threads. */
  setThreads(threads: number): void
  /** What the library has. */
  getThreads(): number
  sampleToken(index: LogitIndex, sampler: NativeSampler): Promise<number>
  /** Logits of the tokens asked for and of the likeliest ones, best first, and the sum of e^(logit − highest) over all. */
  measureToken(
    index: LogitIndex,
    sampler: NativeSampler,
    wanted: { readonly tokens: readonly number[]; readonly top: number },
  ): Promise<{ readonly logits: readonly (readonly [token: number, logit: number])[]; readonly weight: number }>
}

export type Native = NativeText & {
  readonly context: NativeContext
  readonly memory: SequenceMemory
  /** All of them, of which the last `guestSlots` are for whoever has none when the others are taken. */
  readonly slots: number
  readonly guestSlots: number
  /** Cells of one slot: prompt and answer together. */
  readonly windowTokens: number
  readonly batchTokens: number
  readonly stepsBySize: boolean
  /** From so many tokens of one prompt in a step on they are compared in tiles with those before them; Infinity where none are. */
  readonly tileTokens: number
  /** Processor threads that compute the first step, as the library has them, and the most that may compute one. */
  readonly threads: ThreadsChosen
  /** Whether threads give way to others; where a card computes, their use of processors tells nothing. */
  readonly adaptsThreads: boolean
  /** Null where the processor alone computes. */
  readonly cards: CardsInUse | null
  readonly isReproducible: boolean
  /** Tokens of an answer that may be computed ahead on a guess; zero where that is unwanted or could not be taken back. */
  readonly draftTokensMax: number
  readonly choosingTime: ChoosingTime
  takeSampler(): NativeSampler
  /**
   * For a later answer. Nobody may be sampling with it any more.
   *
   * One that holds a grammar must not be left when the process comes to its end by itself: the library takes grammars
   * away before the samplers that hold them, which crashes.
   */
  giveSamplerBack(sampler: NativeSampler): void
  /** Throws for a text that is no grammar. The root rule is `root`. */
  createGrammarState(grammar: string): GrammarState
  /** Moves a state on by a token; false, and nothing moved, when the grammar does not allow it. */
  acceptToken(state: GrammarState, token: number): boolean
  allowsToken(state: GrammarState, token: number): boolean
}

/** The library's context; its `sampleToken` answers with a list where more than the token is asked for. */
type LibraryContext = Omit<NativeContext, 'measureToken' | 'sampleToken'> &
  NativeSequences & {
    sampleToken(index: LogitIndex, sampler: NativeSampler): Promise<number>
    sampleToken(
      index: LogitIndex,
      sampler: NativeSampler,
      probabilities: false,
      confidence: false,
      logits: readonly [tokens: readonly number[], max: false, min: false, selected: false, top: number],
      totalWeight: true,
    ): Promise<
      readonly [
        token: number,
        probabilities: undefined,
        confidence: undefined,
        logits: readonly number[],
        weight: number,
      ]
    >
  }

type Internals = {
  readonly model: { readonly _model: NativeVocabulary }
  readonly context: { readonly _ctx: LibraryContext }
  readonly llama: { readonly _bindings: Bindings }
}

type Bindings = {
  readonly AddonContextSequenceCheckpoint: new () => NativeCheckpoint
  readonly AddonSampler: {
    new (model: unknown): NativeSampler
    canBeNextTokenForGrammarEvaluationState(state: GrammarState, token: number): boolean
    acceptGrammarEvaluationStateToken(state: GrammarState, token: number): void
  }
  readonly AddonGrammar: new (text: string, options: { addonExports: Bindings; rootRuleName: string }) => object
  readonly AddonGrammarEvaluationState: new (model: unknown, grammar: object) => GrammarState
}

/** `GGML_FA_TILE_Q` in ggml's `ggml-cpu/common.h`. */
const flashTileTokens = 64

/** Weights are read, and the rest of the loading begins. */
const loadedProgress = 2

/** The version of llama.cpp: another one may not take a state that this one has saved. */
export function releaseOf(library: Llama): string {
  return library.llamaCppRelease.release
}

export async function loadNative(
  settings: LoadSettings,
  library?: Llama,
  onProgress: (progress: number) => void = () => {},
  states: StateRoom = createStateRoom(),
): Promise<Native> {
  const llama = library ?? (await openLibrary(settings))
  const model = await llama.loadModel({
    modelPath: settings.weightsPath,
    onLoadProgress: onProgress,
    // Those of a graphics card are read into its own memory in any case.
    ...(settings.copiesWeights === true && llama.gpu === false && { useMmap: false }),
    ...scalingOf(settings),
  })
  onProgress(loadedProgress)
  const wanted = { threads: settings.threads, weightsBytes: model.size, cores: llama.cpuMathCores }
  const threads = chooseThreads(wanted)
  const { context, guestSlots } = await createContext(model, threads.first, settings)
  const internals = { model, context, llama } as unknown as Internals
  const { _bindings: bindings } = internals.llama
  const createSampler = () => new bindings.AddonSampler(internals.model._model)
  const samplers = new SamplerPool(createSampler, context.totalSequences)
  return {
    context: withMeasuring(internals.context._ctx),
    memory: createSequenceMemory({
      native: internals.context._ctx,
      createCheckpoint: () => new bindings.AddonContextSequenceCheckpoint(),
      windowedTokens: model.fileInsights.swaSize ?? null,
      isRecurrent: model.fileInsights.isRecurrent || model.fileInsights.isHybrid,
      isOnCard: llama.gpu !== false,
      slotTokensMax: context.contextSize,
      states,
    }),
    ...textOf(model),
    slots: context.totalSequences,
    guestSlots,
    windowTokens: Math.min(context.contextSize, windowOf(model, settings)),
    batchTokens: Math.min(context.batchSize, settings.batchTokens),
    stepsBySize: settings.stepsBySize === true,
    tileTokens: llama.gpu === false && (settings.kvCacheType ?? 'f16') === 'f16' ? flashTileTokens : Infinity,
    threads: { first: context.currentThreads, most: threads.most },
    adaptsThreads: !settings.isReproducible && settings.stepsBySize !== true && llama.gpu === false,
    cards: await cardsOf(llama, model),
    isReproducible: settings.isReproducible,
    draftTokensMax: settings.isReproducible || !canTakeBack(model) ? 0 : settings.draftTokensMax,
    choosingTime: new ChoosingTime(),
    takeSampler: () => samplers.take(),
    giveSamplerBack: (sampler) => samplers.giveBack(sampler),
    createGrammarState(text) {
      const grammar = new bindings.AddonGrammar(text, { addonExports: bindings, rootRuleName: 'root' })
      return new bindings.AddonGrammarEvaluationState(internals.model._model, grammar)
    },
    allowsToken: (state, token) => bindings.AddonSampler.canBeNextTokenForGrammarEvaluationState(state, token),
    acceptToken(state, token) {
      if (!bindings.AddonSampler.canBeNextTokenForGrammarEvaluationState(state, token)) return false
      bindings.AddonSampler.acceptGrammarEvaluationStateToken(state, token)
      return true
    },
  }
}

/** A card that is there computes nothing where none of the layers found room in its memory. */
async function cardsOf(llama: Llama, model: LlamaModel): Promise<CardsInUse | null> {
  if (llama.gpu === false) return null
  const { gpuLayers: layers, fileInsights } = model
  return { kind: llama.gpu, names: await llama.getGpuDeviceNames(), layers, layersAll: fileInsights.totalLayers }
}

/** Loads what the weights say of text, and none of the weights. */
export async function loadText(
  { weightsPath }: Pick<LoadSettings, 'weightsPath'>,
  library?: Llama,
): Promise<NativeText> {
  const llama = library ?? (await openLibrary({ gpu: 'off' }))
  return textOf(await llama.loadModel({ modelPath: weightsPath, vocabOnly: true }))
}

function textOf(model: LlamaModel): NativeText {
  const { _model: vocabulary } = model as unknown as Internals['model']
  const { tokenizer } = model.fileInfo.metadata
  return {
    vocabulary,
    vocabularySize: tokenizer?.ggml?.tokens?.length ?? countTokens(model),
    chatTemplate: tokenizer?.chat_template ?? null,
  }
}

/** A window forgets only what no token of the batch looks back to. A running state keeps nothing of before. */
function canTakeBack({ fileInsights }: LlamaModel): boolean {
  return !fileInsights.isRecurrent && !fileInsights.isHybrid
}

function withMeasuring(context: LibraryContext): NativeContext {
  return {
    initBatch: (size) => context.initBatch(size),
    addToBatch: (...share) => context.addToBatch(...share),
    decodeBatch: () => context.decodeBatch(),
    setThreads: (threads) => context.setThreads(threads),
    getThreads: () => context.getThreads(),
    sampleToken: (index, sampler) => context.sampleToken(index, sampler),
    async measureToken(index, sampler, { tokens, top }) {
      const wanted = [tokens, false, false, false, top] as const
      const [, , , pairs, weight] = await context.sampleToken(index, sampler, false, false, wanted, true)
      const logits: [number, number][] = []
      for (let at = 0; at + 1 < pairs.length; at += 2) logits.push([pairs[at] ?? 0, pairs[at + 1] ?? 0])
      return { logits, weight }
    },
  }
}

/** The header is only read again where something in it is to be replaced. */
function scalingOf({ weightsPath, ropeScaling }: LoadSettings) {
  return ropeScaling === null || ropeScaling === undefined
    ? {}
    : { metadataOverrides: scaleHeader(inspectFile(weightsPath).metadata, ropeScaling) }
}

function countTokens(model: LlamaModel): number {
  let count = 0
  for (const _ of model.iterateAllTokens()) count += 1
  return count
}
