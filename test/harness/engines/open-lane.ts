import type { AnswerPlan } from '../../../src/engines/text/prepared-text.ts'
import { loadNative, type LogitIndex, type Native } from '../../../src/engines/llama/child/native.ts'
import { createPromptBuilder, type PromptBuilder } from '../../../src/engines/text/prompt/prompt-builder.ts'
import { PromptCache } from '../../../src/engines/llama/child/prompt-cache/prompt-cache.ts'
import { createSnapshotStore } from '../../../src/engines/llama/child/prompt-cache/snapshot-store.ts'
import type { TaskContext } from '../../../src/engines/llama/child/task.ts'
import { boundaryTexts, createVocabulary } from '../../../src/engines/text/vocabulary.ts'
import { compileChatTemplate } from '../../../src/chat-format/chat-template.ts'
import { probeTemplate } from '../../../src/chat-format/probe-template.ts'
import { placeholderPath } from './placeholder-path.ts'

/** What an engine's child is made of, on the placeholder weights, without the child. */
export type Lane = { readonly native: Native; readonly prompts: PromptBuilder; readonly context: TaskContext }

/** A plan for an answer that nothing steers. */
export const freePlan: AnswerPlan = {
  forced: null,
  lazy: null,
  readsCalls: false,
  isCallsOnly: false,
  banned: [],
  unenforced: [],
}

/** `change` stands between the library and all that uses it. */
export async function openLane(
  change: (native: Native) => Native = (native) => native,
  settings: Partial<Parameters<typeof loadNative>[0]> = {},
): Promise<Lane> {
  const loaded = await loadNative({
    weightsPath: placeholderPath,
    gpu: 'off',
    slots: 2,
    windowTokensMax: 1_024,
    threads: 1,
    batchTokens: 128,
    isReproducible: false,
    draftTokensMax: 0,
    cacheBytesMax: 0,
    cacheOnDisk: null,
    ...settings,
  })
  const native = change(loaded)
  const template = compileChatTemplate(native.chatTemplate ?? '', boundaryTexts(native.vocabulary))
  const traits = probeTemplate(template)
  const vocabulary = createVocabulary(native.vocabulary, {
    size: native.vocabularySize,
    markup: [],
    templateSource: template.source,
  })
  const prompts = createPromptBuilder({ template, traits, toolFormat: null, vocabulary })
  return { native, prompts, context: { native, vocabulary, tags: traits.thinkingTags, toolFormat: null } }
}

/** Computes a prompt in the first slot. Resolves with the place of its last token's logits. */
export async function computePrompt({ native, context }: Lane, text: string): Promise<LogitIndex> {
  const tokens = context.vocabulary.tokenize(text)
  native.memory.clear(0)
  native.context.initBatch(tokens.length)
  const [index] = Array.from(native.context.addToBatch(0, 0, tokens, Uint32Array.of(tokens.length - 1)))
  await native.context.decodeBatch()
  if (index === undefined) throw new Error('The prompt has no token.')
  return index
}

/** An empty cache: what an earlier loop has left in the slots is not to be counted on. */
export function emptyCache({ memory, slots }: Native): PromptCache {
  return new PromptCache({ memory, store: createSnapshotStore(memory, 0), slots, nowMs: () => performance.now() })
}
