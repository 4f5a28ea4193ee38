import { stringify } from 'yaml'
import { badMin, burns } from './burn-rates.ts'

type Rule = {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export type BurnRulesOptions = {
  /** What is promised: the budget is the rest. */
  readonly availabilityPpm: number
  /** Where people read what to do: the service's address. */
  readonly publicUrl: string
}

const counter = 'odyssey_sli_requests_total'
const bad = `${counter}{class!="good"}`
const minuteMs = 60_000

/**
 * Writes the burn rates of the service's own alerts as rules for Prometheus, for each model and for all together.
 *
 * What one gateway counts as its own, Prometheus adds up over all of them, and it goes on while they are all down.
 */
export function writeBurnRules(options: BurnRulesOptions): string {
  const windows = [...new Set(burns.flatMap(({ longMs, shortMs }) => [longMs, shortMs]))].toSorted((a, b) => a - b)
  const longWindows = [...new Set(burns.map(({ longMs }) => longMs))].toSorted((a, b) => a - b)
  const rules = [
    ...windows.flatMap((windowMs) => {
      const window = toWindow(windowMs)
      return bySubject(`odyssey:sli_bad:ratio_rate${window}`, (sum) => {
        return `${sum}(rate(${bad}[${window}])) / ${sum}(rate(${counter}[${window}]))`
      })
    }),
    ...longWindows.flatMap((windowMs) => {
      const window = toWindow(windowMs)
      return bySubject(`odyssey:sli_bad:increase${window}`, (sum) => `${sum}(increase(${bad}[${window}]))`)
    }),
    alertOf('OdysseyErrorBudgetBurnsFast', 'page', options),
    alertOf('OdysseyErrorBudgetBurns', 'ticket', options),
  ]
  return stringify({ groups: [{ name: 'odyssey-error-budget', rules }] }, { lineWidth: 0 })
}

/** A number of each model and of all together, which no model is called. */
function bySubject(record: string, expressionOf: (sum: string) => string): Rule[] {
  return [
    { record, expr: expressionOf('sum by (model) ') },
    { record, expr: expressionOf('sum'), labels: { model: 'all' } },
  ]
}

function alertOf(alert: string, severity: 'page' | 'ticket', { availabilityPpm, publicUrl }: BurnRulesOptions): Rule {
  const budget = (1_000_000 - availabilityPpm) / 1_000_000
  const conditions = burns
    .filter((burn) => burn.severity === severity)
    .map(({ factor, longMs, shortMs }) => {
      const isAbove = (windowMs: number) => `odyssey:sli_bad:ratio_rate${toWindow(windowMs)} > ${factor} * ${budget}`
      const isMuch = `odyssey:sli_bad:increase${toWindow(longMs)} >= ${badMin}`
      return `(\n  ${isAbove(longMs)}\n  and ${isAbove(shortMs)}\n  and ${isMuch}\n)\n`
    })
  const lasts = severity === 'page' ? 'is used up within days' : 'will not last'
  return {
    alert,
    expr: conditions.join('or\n'),
    labels: { severity },
    annotations: {
      summary: `Requests fail so often that the error budget of 30 days ${lasts}`,
      description:
        '{{ $value | humanizePercentage }} of the requests are bad by the fault of the service, model: {{ $labels.model }}.',
      runbook_url: `${publicUrl}/docs/guides/runbooks#error-budget`,
    },
  }
}

/** As Prometheus writes it. */
function toWindow(windowMs: number): string {
  const minutes = windowMs / minuteMs
  if (minutes % (24 * 60) === 0) return `${minutes / (24 * 60)}d`
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`
}
