import type { LlamaContext, LlamaModel } from 'node-llama-cpp'
import { slotsDefault, withGuestSlots, type LoadSettings } from '../ipc.ts'

/** A context that takes fewer at once sums otherwise with sliding windows: answers of Gemma 3 270M were others. */
const batchTokensLeast = 32

/** With less room per slot than this, fewer slots serve better than smaller ones. */
const comfortableWindowTokens = 32_768

type CreatedContext = { readonly context: LlamaContext; readonly guestSlots: number }

/** The most tokens of one conversation. The library's context is rounded up to a multiple of 256, and may be smaller where memory is short. */
export function windowOf(model: LlamaModel, { windowTokensMax }: Pick<LoadSettings, 'windowTokensMax'>): number {
  return Math.min(model.trainContextSize, windowTokensMax)
}

/** Values can only be kept in fewer bits with flash attention, which the library then turns on. */
const memoryTypes = {
  f16: {},
  q8_0: { experimentalKvCacheKeyType: 'Q8_0', experimentalKvCacheValueType: 'Q8_0' },
  q4_0: { experimentalKvCacheKeyType: 'Q4_0', experimentalKvCacheValueType: 'Q4_0' },
} as const

/** Makes room for the slots that were asked for; where nobody asked, fewer of them where memory is short. */
export async function createContext(
  model: LlamaModel,
  threads: number,
  settings: LoadSettings,
): Promise<CreatedContext> {
  const windowTokens = windowOf(model, settings)
  let slots = settings.slots ?? slotsDefault
  for (;;) {
    const context = await model.createContext({
      sequences: withGuestSlots(slots),
      contextSize: { max: windowTokens },
      batchSize: Math.max(batchTokensLeast, settings.batchTokens),
      threads,
      ...memoryTypes[settings.kvCacheType ?? 'f16'],
    })
    const isRoomy = context.contextSize >= Math.min(windowTokens, comfortableWindowTokens)
    if (settings.slots !== null || slots === 1 || isRoomy) return { context, guestSlots: withGuestSlots(slots) - slots }
    await context.dispose()
    slots = Math.ceil(slots / 2)
  }
}
