// A long prompt is computed while the client waits, in real time and with the service's real pings.

import '../../harness/isolated-environment.ts'
import { defineSlowPrefill } from './slow-prefill.ts'

// Just longer than it takes until the first ping.
defineSlowPrefill(12)
