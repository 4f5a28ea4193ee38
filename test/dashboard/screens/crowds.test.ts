// More keys and more requests than the dashboard reads at once.

import { baseOf, createKey } from '../harness/ask.ts'
import { useDashboard } from '../harness/use-dashboard.ts'
import { crowdSuite, searchSuite } from '../suites/crowd.ts'

const dashboard = useDashboard({
  isSetUp: true,
  async prepare(opened) {
    // Whose rows those of the others are made of.
    await createKey(opened.owner.page, baseOf(opened), 'first')
  },
})

crowdSuite(dashboard)
searchSuite(dashboard)
