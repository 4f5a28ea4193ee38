import type { HttpBounds } from '../../src/http/bounds.ts'

/** As wide as a service with the defaults has them on a machine of 8 GB. */
export const testBounds: HttpBounds = {
  requestMsMax: 120_000,
  bodyBytesPerSecondMin: 512,
  connectionsMax: 4_096,
  connectionsPerAddressMax: 1_024,
  bodyBytesMax: 256 * 1_024 * 1_024,
}
