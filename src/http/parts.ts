import type { ApiKeys } from '../accounts/api-keys.ts'
import type { InferenceParts } from '../inference/generate.ts'
import type { MessagesProtocol } from '../protocols/messages/messages-protocol.ts'
import type { Protocol } from '../protocols/protocol.ts'
import type { Log } from '../telemetry/log.ts'
import type { RequestTracker } from './request-tracker.ts'

/** What the door is made of; `cli/serve.ts` joins them. */
export type HttpParts = {
  readonly inference: InferenceParts
  readonly apiKeys: ApiKeys
  readonly chatCompletions: Protocol
  readonly messages: MessagesProtocol
  readonly tracker: RequestTracker
  readonly log: Log
}
