import { createHmac } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { BlockStart } from '../../core/generation.ts'
import type { OrganizationId, RequestId } from '../../core/ids.ts'
import { seal, unsealBytes } from '../../lib/seal.ts'

/** What was said: the request as it came, and what the model has answered to it. */
export type RecordedContent = {
  /** The wire format's name. */
  readonly protocol: string
  /** JSON, as it came. */
  readonly body: string
  readonly answers: readonly RecordedAnswer[]
}

export type RecordedAnswer = {
  readonly blocks: readonly (BlockStart & { readonly text: string })[]
  /** Why it ended; null where it broke off. */
  readonly reason: string | null
}

type Place = { readonly organizationId: OrganizationId; readonly requestId: RequestId }

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Each organization has a key of its own, so that no mistake in a query shows one what belongs to another. */
function keyOf(key: Uint8Array, organizationId: OrganizationId): Uint8Array {
  return createHmac('sha256', key).update(organizationId).digest()
}

export async function sealContent(
  key: Uint8Array,
  { organizationId, requestId }: Place,
  content: RecordedContent,
): Promise<string> {
  return seal(keyOf(key, organizationId), requestId, await compress(JSON.stringify(content)))
}

export async function openContent(
  key: Uint8Array,
  { organizationId, requestId }: Place,
  sealed: string,
): Promise<RecordedContent> {
  const bytes = await decompress(unsealBytes(keyOf(key, organizationId), requestId, sealed))
  return JSON.parse(bytes.toString('utf8')) as RecordedContent
}
