// A coding agent sends its whole conversation with every turn. What was computed for the turn before must
// not be computed again, though the first thing that the agent says is another each time.

import { ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startService, type Service } from '../harness/start-service.ts'
import { agentConversation } from './agent-conversation.ts'
import { describeHits, hitShare, replayTurns } from './cache-hits.ts'
import { openPromptReader, type PromptReader } from './prompt-reader.ts'
import { missing, recordedConversation, recordedNames } from './recorded-conversations.ts'

const shareMin = 0.99
/** The placeholder weights compute long prompts slowly; npm run conformance sends the recordings as they are. */
const textLengthMax = 60

let service: Service
let readPrompt: PromptReader

before(async () => {
  service = await startService()
  readPrompt = await openPromptReader()
})
after(() => service.stop())

test('an agent’s conversation of 12 turns is computed once', async (t) => {
  const hits = await replayTurns(service, agentConversation(12), readPrompt)
  t.diagnostic(describeHits(hits))
  ok(hitShare(hits) >= shareMin, describeHits(hits))
})

for (const name of recordedNames) {
  test(`what Claude Code sent for ${name} is computed once`, { skip: missing }, async (t) => {
    const hits = await replayTurns(service, recordedConversation(name, textLengthMax), readPrompt)
    t.diagnostic(describeHits(hits))
    ok(hitShare(hits) >= shareMin, describeHits(hits))
  })
}
