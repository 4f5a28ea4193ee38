import { createHash } from 'node:crypto'

/** What replicas are told of whose a request is: nothing but that it is another's. */
export function isolationOf(organizationId: string): string {
  return createHash('sha256').update(`pool ${organizationId}`).digest('hex').slice(0, 32)
}
