// LiteLLM's limits and budgets in ours. Where ours cannot say the same, they say less and never more, and a note says so.

import { perMinuteMax, type LimitValues } from '../../core/limit-fields.ts'
import type { BudgetPeriod } from '../../core/limit.ts'
import type { ModelId } from '../../core/model.ts'

export type PlannedLimit = Partial<LimitValues> & { readonly model: ModelId | '*' }
export type PlannedBudget = {
  readonly period: BudgetPeriod
  readonly microsMax: number
  readonly alertPercents: readonly number[]
}

/** What something may use, and what had to be left out or made less, in words that follow its name. */
export type Allowances = {
  readonly limits: readonly PlannedLimit[]
  readonly budget: PlannedBudget | null
  readonly notes: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

export type LiteLlmAllowances = {
  readonly tpm_limit?: number | null
  readonly rpm_limit?: number | null
  readonly max_parallel_requests?: number | null
  readonly max_budget?: number | null
  readonly soft_budget?: number | null
  readonly budget_duration?: string | null
  readonly model_max_budget?: Fields
  readonly spend: number | null
  /** By the names of models. */
  readonly model_rpm_limit?: Fields
  readonly model_tpm_limit?: Fields
}

/** Which of our models a name stands for; null where it has no counterpart. */
type ModelOf = (name: string) => ModelId | null

export function planAllowances(given: LiteLlmAllowances, modelOf: ModelOf): Allowances {
  const notes: string[] = []
  const limits = [...planLimits(given, notes), ...planModelLimits(given, modelOf, notes)]
  const budget = planBudget(given, notes)
  if (Object.keys(given.model_max_budget ?? {}).length > 0) {
    notes.push('its budgets for single models are left out: a budget is for all models here')
  }
  return { limits, budget, notes }
}

function planLimits(given: LiteLlmAllowances, notes: string[]): PlannedLimit[] {
  const read = (name: 'tpm_limit' | 'rpm_limit' | 'max_parallel_requests') =>
    readLimit(name, given[name] ?? null, notes)
  const [tokens, requests, concurrency] = [read('tpm_limit'), read('rpm_limit'), read('max_parallel_requests')]
  if (tokens === null && requests === null && concurrency === null) return []
  return [{ model: '*', ...tokenLimits(tokens), ...requestLimits(requests), concurrency }]
}

/** There prompts and answers count together, and what was read from a cache counts in full. */
function tokenLimits(tokens: number | null): Partial<LimitValues> {
  return tokens === null ? {} : { inputTokensPerMinute: tokens, outputTokensPerMinute: tokens, cachedReadPercent: 100 }
}

function requestLimits(requests: number | null): Partial<LimitValues> {
  return requests === null ? {} : { requestsPerMinute: requests, isRequestsEnforced: true }
}

function readLimit(name: string, value: number | null, notes: string[]): number | null {
  // The largest number that LiteLLM's pages write stands for no limit.
  if (value === null || value > perMinuteMax) return null
  const whole = Math.floor(value)
  if (whole >= 1) return whole
  notes.push(`its ${name} of ${value} lets nothing through, and is left out: disable what is to be refused`)
  return null
}

/** Names that have become one model share what each of them had. */
function planModelLimits(given: LiteLlmAllowances, modelOf: ModelOf, notes: string[]): PlannedLimit[] {
  const requests = sumByModel('model_rpm_limit', given.model_rpm_limit, modelOf, notes)
  const tokens = sumByModel('model_tpm_limit', given.model_tpm_limit, modelOf, notes)
  const models = new Set([...requests.keys(), ...tokens.keys()])
  return Array.from(models, (model) => {
    return { model, ...tokenLimits(tokens.get(model) ?? null), ...requestLimits(requests.get(model) ?? null) }
  })
}

function sumByModel(name: string, fields: Fields = {}, modelOf: ModelOf, notes: string[]): Map<ModelId, number> {
  const sums = new Map<ModelId, number>()
  for (const [model, value] of Object.entries(fields)) {
    const ours = modelOf(model)
    if (ours === null) continue
    const limit = readLimit(`${name} for ${model}`, Number(value), notes)
    // No limit is larger than that, and nobody reaches it: the sum says no less than its parts did.
    if (limit !== null) sums.set(ours, Math.min(perMinuteMax, (sums.get(ours) ?? 0) + limit))
  }
  return sums
}

/** In which LiteLLM's budgets begin anew as ours do: at midnight, on Mondays and on the first of the month. */
const periodsByDays = new Map<number, BudgetPeriod>([
  [1, 'day'],
  [7, 'week'],
  [30, 'month'],
])
const longerPeriods: readonly (readonly [number, BudgetPeriod])[] = [
  [1, 'day'],
  [7, 'week'],
  [31, 'month'],
  [366, 'year'],
]
const words: Readonly<Record<string, string>> = { hourly: '1h', daily: '1d', weekly: '7d', monthly: '1mo' }
const unitDays: Readonly<Record<string, number>> = { s: 1 / 86_400, m: 1 / 1_440, h: 1 / 24, d: 1, w: 7, mo: 31 }

function planBudget(given: LiteLlmAllowances, notes: string[]): PlannedBudget | null {
  const { max_budget: amount = null, budget_duration: duration = null, soft_budget: soft = null, spend } = given
  if (amount === null) {
    if (soft !== null) notes.push('its soft_budget is left out, as it has no max_budget')
    return null
  }
  const period = periodOf(duration)
  const micros = toMicros(amount)
  if (period === null || micros === null) {
    notes.push(`its budget of ${amount} for ${duration ?? 'ever'} cannot be read, and is left out`)
    return null
  }
  if (!period.isSame)
    notes.push(`its budget is for ${duration} there and for a ${period.period} here, of the same amount`)
  const spent = period.period === 'lifetime' ? (toMicros(spend ?? 0) ?? 0) : 0
  if (spent > 0) notes.push('its budget for ever is what remains of it: what was spent there is taken off')
  return { period: period.period, microsMax: Math.max(0, micros - spent), alertPercents: alertsOf(soft, amount) }
}

/** There somebody is told at an amount, here at a share. */
function alertsOf(soft: number | null, amount: number): readonly number[] {
  const percent = soft === null ? 0 : Math.floor((100 * soft) / amount)
  return percent >= 1 && percent <= 100 ? [percent] : []
}

/** The same period, or the next longer one: the same amount for a longer time is never more. Null for what is none. */
function periodOf(duration: string | null): { readonly period: BudgetPeriod; readonly isSame: boolean } | null {
  if (duration === null) return { period: 'lifetime', isSame: true }
  const given = duration.trim().toLowerCase()
  const [, count, unit = 's'] = /^(\d+)(mo|[smhdw])?$/.exec(words[given] ?? given) ?? []
  const days = Number(count) * (unitDays[unit] ?? NaN)
  if (!(days > 0)) return null
  const same = unit === 'mo' && Number(count) === 1 ? 'month' : periodsByDays.get(days)
  if (same !== undefined) return { period: same, isSame: true }
  const [, longer = 'lifetime'] = longerPeriods.find(([longest]) => days <= longest) ?? []
  return { period: longer, isSame: false }
}

function toMicros(amount: number): number | null {
  const micros = Math.round(amount * 1e6)
  return Number.isSafeInteger(micros) && micros >= 0 ? micros : null
}
