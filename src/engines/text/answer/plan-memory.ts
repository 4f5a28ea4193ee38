import { hash } from 'node:crypto'
import { serialize } from 'node:v8'
import type { ToolFormat } from '../../../chat-format/tool-format/tool-format.ts'
import type { Owner } from '../../../core/generation.ts'
import type { AnswerPlan } from '../prepared-text.ts'
import { planAnswer, type PlannedRequest } from './answer-plan.ts'

/** What the entry of a plan takes beside the plan. */
const bytesPerEntry = 400
/** One plan may take an eighth of the memory, so that no request drives out those of all others. */
const shareOfOne = 1 / 8

/**
 * Remembers the plans of answers, least lately used first: an agent sends the same tools with every turn of a conversation.
 *
 * A plan is made of nothing but what its key is made of, which the type of a planned request sees to. Of the request
 * itself only what SHA-256 makes of it is kept. One organization's plans are never found for another, which could tell
 * from the time it takes whose tools others use. What is refused is not remembered, and refused anew.
 */
export class PlanMemory {
  readonly #bytesMax: number
  readonly #plans = new Map<string, { readonly plan: AnswerPlan; readonly bytes: number }>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** What the plans take that are remembered, and their entries. */
  get bytes(): number {
    return this.#bytes
  }

  /** As `planAnswer` has it. Several requests share what comes of it. */
  plan(request: PlannedRequest & { readonly owner: Owner }, format: ToolFormat | null): AnswerPlan {
    const { tools, toolChoice, output, owner } = request
    const planned: PlannedRequest = { tools, toolChoice, output }
    if (tools.length === 0 && output.kind === 'text') return planAnswer(planned, format)
    const key = keyOf(planned, format, owner)
    const known = this.#plans.get(key)
    if (known !== undefined) {
      this.#plans.delete(key)
      this.#plans.set(key, known)
      return known.plan
    }
    const plan = frozen(planAnswer(planned, format))
    this.#keep(key, plan)
    return plan
  }

  #keep(key: string, plan: AnswerPlan): void {
    const bytes = bytesOf(plan)
    if (bytes > this.#bytesMax * shareOfOne) return
    this.#plans.set(key, { plan, bytes })
    this.#bytes += bytes
    for (const [oldest, its] of this.#plans) {
      if (this.#bytes <= this.#bytesMax) break
      this.#plans.delete(oldest)
      this.#bytes -= its.bytes
    }
  }
}

/** The text of everything that a plan is made of. JSON writes a bound of `1e400` as `null`, and `-0` as `0`: those are told apart. */
function keyOf(planned: PlannedRequest, format: ToolFormat | null, { organizationId }: Owner): string {
  let values = 0
  let unwritten = ''
  const note = (_name: string, value: unknown): unknown => {
    values += 1
    const isUnwritten = typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))
    if (isUnwritten) unwritten += ` ${values}:${Object.is(value, -0) ? '-0' : value}`
    return value
  }
  const written = JSON.stringify([organizationId, format, planned], note)
  return hash('sha256', written + unwritten, 'base64')
}

/** Serialized, a text takes one or two bytes for each character, as it does in memory. */
function bytesOf(plan: AnswerPlan): number {
  return serialize(plan).byteLength + bytesPerEntry
}

/** Whoever changed a plan would change the answers of later requests. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const its of Object.values(Object.freeze(value))) frozen(its)
  return value
}
