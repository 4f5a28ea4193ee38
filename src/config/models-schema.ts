import { normalize } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

/** Stretches the positions that weights were trained for over a longer window, as the weights' makers recommend it. */
const ropeScaling = z.strictObject({
  type: z.enum(['yarn', 'linear']),
  /** The new window in windows of the training. */
  factor: z.number().gt(1).max(1_024),
  /** The window that the weights were trained for; null takes what their file says. */
  trainedWindowTokens: z.int().min(512).max(1_000_000).nullable().default(null),
})

export type RopeScaling = z.output<typeof ropeScaling>

const marks = z.strictObject({ open: z.string(), close: z.string() })
const mark = z.string().min(1)

/** What stands around all calls of a turn, around each of them, and between two. */
const aroundCalls = {
  section: marks.default({ open: '', close: '' }),
  separator: z.string().default('\n'),
  open: mark,
  close: z.string(),
}

/** How a model writes calls, where an operator knows better than its template shows. */
const notation = z.discriminatedUnion('notation', [
  z.strictObject({
    notation: z.literal('envelope'),
    ...aroundCalls,
    nameKey: mark.default('name'),
    argumentsKey: mark.default('arguments'),
  }),
  z.strictObject({ notation: z.literal('marked'), ...aroundCalls, nameEnd: mark }),
  z.strictObject({
    notation: z.literal('tagged'),
    ...aroundCalls,
    nameEnd: mark,
    argument: z.strictObject({ open: mark, nameEnd: mark, close: mark, separator: z.string().default('\n') }),
  }),
  z.strictObject({ notation: z.enum(['pythonic', 'harmony', 'bare-keys']), section: marks.nullable().default(null) }),
])

/** Overrides what is derived from the weights' chat template, in the words of `odyssey models inspect`. */
export const chatSettings = z.strictObject({
  /** `generic` describes tools in the system text and holds calls to the generic format; a notation is what the model writes. */
  tools: z.union([z.enum(['derived', 'generic']), notation]).default('derived'),
  /** The markers around thinking; `none` for a model that does not think. */
  thinking: z
    .union([z.enum(['derived', 'none']), z.strictObject({ open: z.string().min(1), close: z.string().min(1) })])
    .default('derived'),
  /** Where the system text goes: the template may render a turn of role system that its model was never taught. */
  system: z.enum(['derived', 'own-turn', 'first-user-turn']).default('derived'),
  /** Where system text goes that comes later in a conversation. */
  lateSystem: z.enum(['derived', 'in-place', 'next-user-turn']).default('derived'),
})

export type ChatSettings = z.output<typeof chatSettings>

/** A day, which begins in UTC. */
const day = z.iso.date('must be a day such as 2027-06-30')

/** The announced end of a model, which clients hear of with every answer. */
const lifecycle = z
  .strictObject({
    deprecatedAt: day,
    /** Until when it is going to be offered; null where that is not settled. */
    retiresAt: day.nullable().default(null),
  })
  .refine(
    ({ deprecatedAt, retiresAt }) => retiresAt === null || retiresAt >= deprecatedAt,
    'must not retire a model before it is deprecated',
  )

const model = z.strictObject({
  /** A GGUF file; a relative path counts from the config file's folder. Null runs the starter weights. */
  weights: z.string().min(1).nullable().default(null),
  /** The pool that answers instead of weights, by its name in `pools`. */
  pool: z.string().min(1).nullable().default(null),
  /** Null leaves the window as the file says; a file that several models name is scaled alike for all. */
  ropeScaling: ropeScaling.nullable().default(null),
  /** Null takes everything from the chat template; a file that several models name is taken alike for all. */
  chat: chatSettings.nullable().default(null),
  /** Whether the model thinks when a request does not say. */
  thinking: z.enum(['on', 'off']),
  /** The most one answer may hold, whatever a client asks for. */
  outputTokensMax: z.int().min(1).max(1_000_000).default(64_000),
  lifecycle: lifecycle.nullable().default(null),
})

/** What goes with the weights, and not with the model that they answer for. */
const ofWeights = ['ropeScaling', 'chat'] as const

type OfWeights = { readonly weights: string | null } & Readonly<Record<(typeof ofWeights)[number], unknown>>

/** Weights run in one process whatever the number of models they answer for, so they can be taken in one way alone. */
function checkOfWeights(models: Readonly<Record<string, OfWeights>>, context: z.RefinementCtx): void {
  for (const setting of ofWeights) {
    for (const [id, model] of Object.entries(models)) {
      const { weights, [setting]: value } = model
      const refuse = (message: string) => context.addIssue({ code: 'custom', path: [id, setting], message })
      if (value === null) continue
      if (weights === null) {
        refuse('needs weights that are named beside it')
        continue
      }
      const [differing] =
        Object.entries(models).find(
          ([, other]) => isSameFile(other.weights, weights) && !isDeepStrictEqual(other[setting], value),
        ) ?? []
      if (differing !== undefined) refuse(`must be that of ${differing} too, which has the same weights`)
    }
  }
}

function isSameFile(a: string | null, b: string): boolean {
  return a !== null && normalize(a) === normalize(b)
}

/** What the config file may say of each model. */
export const modelsSchema = z
  .strictObject({
    'clarke-1.0': model.prefault({ thinking: 'off' }),
    'hal-1.0': model.prefault({ thinking: 'on' }),
    'tycho-1.0': model.prefault({ thinking: 'off' }),
  })
  .superRefine(checkOfWeights)
