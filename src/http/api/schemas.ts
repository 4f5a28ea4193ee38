import { priorities } from '../../core/tier.ts'
import { z } from 'zod'
import { endpoints } from '../../protocols/endpoints.ts'
import { modelIds } from '../../core/model.ts'
import { roles } from '../../core/role.ts'
import { tierIds } from '../../core/tier.ts'
import type { Page, PageRequest } from '../../accounts/page.ts'

/** An id of one kind. One that cannot be an id is treated like one that is nobody's. */
export function id<Prefix extends string>(prefix: Prefix) {
  return z.templateLiteral([`${prefix}_`, z.string().regex(/^[0-9A-Za-z_]{1,64}$/)])
}

export const organizationId = id('org')
export const projectId = id('proj')
export const memberId = id('mem')
export const apiKeyId = id('key')
export const managementKeyId = id('mkey')
export const serviceAccountId = id('svc')
export const roleId = id('role')

/** An instant, in UTC in answers; requests may use another offset. */
export const time = z.iso.datetime().describe('An instant, UTC.')
export const givenTime = z.iso.datetime({ offset: true })

export const priority = z.enum(priorities)
export const tier = z.enum(tierIds)
/** A decimal number in a text: it may be larger, and have more digits, than a JSON number keeps exactly. */
export const costMicros = z
  .string()
  .regex(/^-?\d+(\.\d{1,6})?$/)
  .describe('In millionths of a unit of the currency, exact: up to six decimals.')

export const role = z.enum(roles)
export const model = z.enum(modelIds)
export const endpoint = z.enum(endpoints)
export const name = z.string().min(1).max(200)

export const inOrganization = z.strictObject({ organizationId })
export const nowhere = z.strictObject({})

const limit = z.int().min(1).max(200).default(50).describe('How many entries at most.')
const after = z.string().min(1).max(300).optional().describe('`next` of the page before this one.')

export const pageQuery = z.strictObject({ limit, after })
export type PageQuery = z.output<typeof pageQuery>

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    data: z.array(item),
    next: z.string().nullable().describe('Give it as `after` to get the next page; null after the last one.'),
  })
}

export function toPageRequest({ limit: count, after: cursor }: PageQuery): PageRequest {
  return { limit: count, ...(cursor !== undefined && { cursor }) }
}

export function toPage<Item, Shown>({ items, next }: Page<Item>, show: (item: Item) => Shown) {
  return { data: items.map(show), next }
}

export function toTime(ms: number): string {
  return new Date(ms).toISOString()
}

export function toTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : toTime(ms)
}

/** Leaves out what was not given, for parameters that may be absent but not undefined. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
