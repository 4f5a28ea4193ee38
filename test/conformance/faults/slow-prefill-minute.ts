// As slow-prefill.test.ts, for as long as a large prompt takes on a small machine. Only npm run conformance runs it.

import '../../harness/isolated-environment.ts'
import { defineSlowPrefill } from './slow-prefill.ts'

defineSlowPrefill(60)
