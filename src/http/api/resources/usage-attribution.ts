import { z } from 'zod'
import { tagKeyPattern } from '../../../accounts/organization-settings.ts'
import type { EndUserHash } from '../../../billing/attribution/attribute.ts'
import type { AttributedTo } from '../../../billing/usage/query-usage.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import { InvalidFields } from '../problem.ts'

const named = z.array(z.string().min(1).max(512)).max(50).optional()

/** What queries of usage may ask of end users and tags. */
export const attributionFields = {
  user: named.describe('End users, by the names that clients gave them or as they are kept.'),
  tagKey: z
    .string()
    .regex(tagKeyPattern)
    .optional()
    .describe('The key of a tag; by itself it stands for all requests that have one.'),
  tag: named.describe('Values of the tag.'),
}

type Asked = {
  readonly groupBy?: string | undefined
  readonly user?: readonly string[] | undefined
  readonly tagKey?: string | undefined
  readonly tag?: readonly string[] | undefined
}

/** Of whom usage is asked for; null where it is asked of everybody. */
export function readAttribution(
  { groupBy, user, tagKey, tag }: Asked,
  organizationId: OrganizationId,
  hash: EndUserHash,
): AttributedTo | null {
  const isOfUsers = user !== undefined || groupBy === 'user'
  const isOfTags = tagKey !== undefined || tag !== undefined || groupBy === 'tag'
  if (isOfTags && tagKey === undefined) fail('tagKey', 'This has to name the tag.')
  if (isOfUsers && isOfTags) fail('tagKey', 'Usage is summed up by end user or by one tag, not by both.')
  if (isOfUsers) {
    // Whoever asks knows the name, whatever is kept of it.
    const values = user?.flatMap((name) => [name, hash(organizationId, name)])
    return { dimension: 'user', ...(values !== undefined && { values }) }
  }
  return isOfTags ? { dimension: `tag:${tagKey ?? ''}`, ...(tag !== undefined && { values: tag }) } : null
}

function fail(path: string, message: string): never {
  throw new InvalidFields([{ path, message }])
}

/** Groups by end user and by tag are groups by whom requests are attributed to. */
export function toGrouping<GroupBy extends string>(
  groupBy: GroupBy | undefined,
): Exclude<GroupBy, 'user' | 'tag'> | 'attribution' | null {
  if (groupBy === undefined) return null
  return groupBy === 'user' || groupBy === 'tag' ? 'attribution' : (groupBy as Exclude<GroupBy, 'user' | 'tag'>)
}
