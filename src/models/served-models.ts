import { efforts, type Effort, type Thinking } from '../core/generation.ts'
import type { Lifecycle, ModelId, ServedModel } from '../core/model.ts'

const off: Thinking = { kind: 'off' }
const small: Thinking = { kind: 'on', tokensMax: 1_024 }
const medium: Thinking = { kind: 'on', tokensMax: 8_192 }
const large: Thinking = { kind: 'on', tokensMax: 32_768 }
const uncapped: Thinking = { kind: 'on', tokensMax: null }

/** What an effort level means to each model: `hal` reasons freely, `tycho` stays quick. */
const thinkingByEffort: Readonly<Record<ModelId, Readonly<Record<Effort, Thinking>>>> = {
  'hal-1.0': byEffort([off, small, small, medium, large, uncapped, uncapped]),
  'clarke-1.0': byEffort([off, small, small, medium, large, large, large]),
  'tycho-1.0': byEffort([off, off, small, small, medium, medium, medium]),
}

type Presentation = Pick<ServedModel, 'displayName' | 'description' | 'createdAtMs' | 'windowTokens'>

const presentations: Readonly<Record<ModelId, Presentation>> = {
  'clarke-1.0': {
    displayName: 'Clarke 1.0',
    description: 'Production default',
    createdAtMs: Date.UTC(2026, 10, 5),
    windowTokens: 1_000_000,
  },
  'hal-1.0': {
    displayName: 'HAL 1.0',
    description: 'Reasoning',
    createdAtMs: Date.UTC(2026, 10, 5),
    windowTokens: 250_000,
  },
  'tycho-1.0': {
    displayName: 'Tycho 1.0',
    description: 'Fast and cheap',
    createdAtMs: Date.UTC(2026, 10, 5),
    windowTokens: 125_000,
  },
}

export type ModelSettings = {
  readonly thinking: 'on' | 'off'
  readonly outputTokensMax: number
  readonly lifecycle?: { readonly deprecatedAt: string; readonly retiresAt: string | null } | null
}

/** A model as it is offered under an operator's settings. */
export function describeServedModel(id: ModelId, settings: ModelSettings): ServedModel {
  return {
    id,
    ...presentations[id],
    outputTokensMax: settings.outputTokensMax,
    lifecycle: readLifecycle(settings.lifecycle ?? null),
    thinkingDefault: settings.thinking === 'on' ? uncapped : off,
    thinkingByEffort: thinkingByEffort[id],
  }
}

function readLifecycle(lifecycle: NonNullable<ModelSettings['lifecycle']> | null): Lifecycle | null {
  if (lifecycle === null) return null
  const { deprecatedAt, retiresAt } = lifecycle
  return { deprecatedAtMs: Date.parse(deprecatedAt), retiresAtMs: retiresAt === null ? null : Date.parse(retiresAt) }
}

function byEffort(choices: readonly Thinking[]): Readonly<Record<Effort, Thinking>> {
  const entries = efforts.map((effort, index) => [effort, choices[index] ?? uncapped] as const)
  return Object.fromEntries(entries) as Record<Effort, Thinking>
}
