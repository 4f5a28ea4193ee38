// As cache-hits.test.ts, with the recordings as long as they are. Only npm run conformance runs it.

import { ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startService, type Service } from '../harness/start-service.ts'
import { describeHits, hitShare, replayTurns } from './cache-hits.ts'
import { openPromptReader, type PromptReader } from './prompt-reader.ts'
import { missing, recordedConversation, recordedNames } from './recorded-conversations.ts'

let service: Service
let readPrompt: PromptReader

before(async () => {
  service = await startService()
  readPrompt = await openPromptReader()
})
after(() => service.stop())

for (const name of recordedNames) {
  test(`all that Claude Code sent for ${name} is computed once`, { skip: missing }, async () => {
    const hits = await replayTurns(service, recordedConversation(name), readPrompt)
    console.log(`${name}: ${describeHits(hits)}`)
    ok(hitShare(hits) >= 0.99, describeHits(hits))
  })
}
