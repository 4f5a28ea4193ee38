import type { WireFormat } from '../lib/wire.ts'

/** A request that was sent before, to be asked again with changes. */
export type Draft = { readonly format: WireFormat; readonly body: string; readonly projectId: string }

let draft: Draft | null = null

/** Leaves a request for the playground, which is opened next. It stands in no address: what is said is in no link. */
export function handOver(given: Draft): void {
  draft = given
}

/** Takes what was left for it, once. */
export function takeOver(): Draft | null {
  const taken = draft
  draft = null
  return taken
}
