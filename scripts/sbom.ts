// npm run sbom -- --output odyssey.cdx.json
//
// Writes the bill of materials as CycloneDX, to a file or to the output. The same lockfile makes the same bytes,
// unless --timestamp (an instant) or --serial-number (urn:uuid:…) is given.

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readLockfile } from './supply-chain/lockfile.ts'
import { makeSbom } from './supply-chain/make-sbom.ts'

const { values } = parseArgs({
  options: {
    output: { type: 'string' },
    timestamp: { type: 'string' },
    'serial-number': { type: 'string' },
  },
})
const { output, timestamp, 'serial-number': serialNumber } = values
const sbom = makeSbom(readLockfile(), {
  ...(timestamp !== undefined && { timestamp: new Date(timestamp).toISOString() }),
  ...(serialNumber !== undefined && { serialNumber }),
})
const text = `${JSON.stringify(sbom, null, 2)}\n`
if (output === undefined) process.stdout.write(text)
else {
  writeFileSync(output, text)
  console.log(`${output} lists ${sbom.components.length} packages.`)
}
