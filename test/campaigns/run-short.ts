import assert from 'node:assert/strict'
import type { CampaignOptions, CampaignResult } from './campaign.ts'

/** One seed for every run of the tests: what they find must not depend on the day. */
const seed = 20_261

/** The short form of a campaign; scripts/campaign.ts runs the long one. */
export async function runShort(
  run: (options: CampaignOptions) => Promise<CampaignResult>,
  count: number,
): Promise<void> {
  const { failures, failureCount } = await run({ seed, count, log: () => {} })
  assert.equal(failureCount, 0, `seed ${seed}:\n${failures.join('\n')}`)
}
