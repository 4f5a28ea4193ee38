import { z } from 'zod'
import { invalidRequest, type ApiError, type ErrorPath, type FieldFault } from '../core/error.ts'

/** A field that may be absent; `null` equals absent in both formats. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined)
}

/** Integers beyond 2^53 arrive rounded but pass: clients write the largest 64-bit number for "no limit". */
export function anyInteger(fault: string) {
  const integer = z.number().check(({ value, issues }) => {
    if (Number.isInteger(value)) return
    issues.push({ code: 'invalid_type', expected: 'int', input: value, message: fault })
  })
  // For the formats' description, which would otherwise say that any number does.
  return integer.meta({ type: 'integer' })
}

/** A JSON object that is handed on as it came: a copy of zod's would lose a key that is named `__proto__`. */
export function objectOf<Member extends z.ZodType>(member: Member, fault: string) {
  const object = z.custom<Record<string, z.output<Member>>>().check(({ value, issues }) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      issues.push({ code: 'invalid_type', expected: 'record', input: value, message: fault })
      return
    }
    for (const [key, content] of Object.entries(value)) {
      const [issue] = member.safeParse(content).error?.issues ?? []
      if (issue === undefined) continue
      issues.push({ ...issue, path: [key, ...issue.path], input: content } as z.core.$ZodRawIssue)
    }
  })
  // For the formats' description, which would otherwise say that anything will do.
  const { $schema: _, ...described } = z.toJSONSchema(member, { io: 'input' })
  return object.meta({ type: 'object', additionalProperties: described })
}

/** Words a fault the way a format's users know it. */
export type FaultWording = (path: ErrorPath, fault: FieldFault, text: string) => string

/** By the schemas as they are written. */
const compiled = new WeakMap<z.ZodType, z.ZodType>()

/**
 * Compiles the schema of a body, unless that was done, so that the many fields that a body may have and has not cost next to
 * nothing.
 *
 * It takes up to 60 ms, a sixth of the time in which a command is there. So who opens the formats does it, and not who only
 * names them.
 */
export function compileBody<Output>(schema: z.ZodType<Output>): z.ZodType<Output> {
  let known = compiled.get(schema)
  if (known === undefined) compiled.set(schema, (known = z.compile(schema)))
  return known as z.ZodType<Output>
}

/** Checks a body against its schema; the first fault becomes an `invalid-request` that names the field. */
export function parseBody<Output>(schema: z.ZodType<Output>, body: unknown, word: FaultWording): Output {
  const result = compileBody(schema).safeParse(body)
  if (result.success) return result.data
  throw toInvalidRequest(result.error, body, word)
}

function toInvalidRequest(error: z.ZodError, body: unknown, word: FaultWording): ApiError {
  const first = error.issues[0]
  if (first === undefined) return invalidRequest(null, 'value', 'The request is invalid.')
  const { issue, path } = deepest(first, [])
  const fault = faultOf(issue, valueAt(body, path))
  return invalidRequest(path, fault, word(path, fault, describe(issue, fault)))
}

type Issue = z.core.$ZodIssue

/** A union reports every member's faults; the member that was understood furthest says what was meant. */
function deepest(issue: Issue, prefix: ErrorPath): { issue: Issue; path: ErrorPath } {
  const path = [...prefix, ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))]
  if (issue.code !== 'invalid_union') return { issue, path }
  let best: { issue: Issue; path: ErrorPath } = { issue, path }
  for (const member of issue.errors) {
    const first = member[0]
    if (first === undefined) continue
    const found = deepest(first, path)
    if (found.path.length > best.path.length) best = found
  }
  return best
}

function faultOf(issue: Issue, value: unknown): FieldFault {
  if (value === undefined) return 'missing'
  return issue.code === 'invalid_type' || issue.code === 'invalid_union' ? 'type' : 'value'
}

function describe(issue: Issue, fault: FieldFault): string {
  return fault === 'missing' ? 'Field required' : issue.message
}

function valueAt(body: unknown, path: ErrorPath): unknown {
  let value = body
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string | number, unknown>)[key]
  }
  return value
}
