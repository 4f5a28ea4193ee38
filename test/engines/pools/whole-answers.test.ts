// An answer that comes from its replica all at once.

import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { runAlone } from '../../../src/core/engine.ts'
import { openPool } from '../../harness/engines/open-pool.ts'
import { openPlaceholderModel } from '../../harness/engines/placeholder-model.ts'
import { openStandIn } from '../../harness/engines/stand-in.ts'
import { engineRequest, withSeed } from '../../harness/requests.ts'

test('an answer with log-probabilities that comes as a whole leaves others their turns while it is read', async () => {
  const member = await openStandIn({ kind: 'llama-server', model: await openPlaceholderModel() })
  const engine = await openPool([{ address: member.address, kind: 'llama-server' }])
  const request = engineRequest({
    sampling: withSeed(1, 0),
    logprobsTop: 5,
    outputTokensMax: 300,
    outputTokensMin: 300,
  })
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  count()
  const inTurn = new Map<number, number>()
  let told = 0
  for await (const event of runAlone(engine, request, new AbortController().signal)) {
    if (event.type !== 'delta') continue
    const tokens = event.logprobs?.length ?? 0
    inTurn.set(turns, (inTurn.get(turns) ?? 0) + tokens)
    told += tokens
  }
  isOver = true
  equal(told, 300)
  ok(Math.max(...inTurn.values()) <= 64, JSON.stringify([...inTurn]))
  equal(member.asked.filter(({ n_probs: top }) => top === 5).length, 1)
  await engine.close()
  await member.close()
})
