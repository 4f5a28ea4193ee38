import { ok } from 'node:assert/strict'
import { createOrganizationKey } from '../../harness/run-cli.ts'
import type { Service } from '../../harness/start-service.ts'
import type { Failures } from '../campaign.ts'
import { ask } from './ask.ts'
import { questionOf } from './real-texts.ts'

type Answer = {
  readonly choices: readonly [{ readonly logprobs: { readonly content: readonly [Token] } }]
  readonly usage: {
    readonly prompt_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number }
  }
}
type Token = { readonly top_logprobs: readonly { readonly token: string; readonly logprob: number }[] }

/** What is less likely differs more by itself. */
const comparedTokens = 3

export type EarlierTurns = {
  readonly service: Service
  readonly failures: Failures
  readonly label: string
  readonly model: string
  /** By how much log-probabilities may differ when a prompt is computed in other batches. */
  readonly logprobMost: number
}

/**
 * A conversation goes on from an earlier turn than its last one, behind which more came than a window looks back. It is as if
 * nothing had been kept: an organization that has nothing of it is answered alike.
 */
export async function checkEarlierTurns({ service, failures, label, model, logprobMost }: EarlierTurns): Promise<void> {
  const begun = [{ role: 'user', content: questions(0, 15) }]
  const answered = [...begun, { role: 'assistant', content: 'Yes.' }]
  const goesOn = (from: number) => [...answered, { role: 'user', content: questions(from, 90) }]
  const choose = (messages: readonly object[], key = service.key) => {
    const body = { model, messages, temperature: 0, max_tokens: 1, logprobs: true, top_logprobs: 20 }
    return ask<Answer>(service.address, '/v1/chat/completions', body, key)
  }
  const first = await choose(begun)
  await choose(goesOn(100))
  const warm = await choose(goesOn(200))
  const cold = await choose(goesOn(200), await createOrganizationKey(service, 'Another'))
  const { usage } = warm
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0
  failures.check(`${label}, kept of an earlier turn`, () => {
    // All of the first turn but the markup that opened its answer.
    ok(cached >= first.usage.prompt_tokens - 16, `${cached} of ${first.usage.prompt_tokens}`)
    ok(cached < usage.prompt_tokens / 2, `${cached} of ${usage.prompt_tokens}`)
  })
  failures.check(`${label}, an earlier turn`, () => {
    for (const { token, logprob } of likeliest(warm).slice(0, comparedTokens)) {
      const other = likeliest(cold).find((one) => one.token === token)?.logprob ?? -Infinity
      ok(Math.abs(other - logprob) <= logprobMost, `${JSON.stringify(token)}: ${logprob}, else ${other}`)
    }
  })
}

function likeliest({ choices: [choice] }: Answer): Token['top_logprobs'] {
  return choice.logprobs.content[0].top_logprobs
}

function questions(from: number, count: number): string {
  return Array.from({ length: count }, (_, index) => questionOf(from + index)).join(' ')
}
