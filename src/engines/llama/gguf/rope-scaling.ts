// RoPE scaling: weights turn positions into angles, and angles that they were trained with are stretched over a longer
// window. YaRN stretches slow angles more than fast ones; linear scaling stretches all alike.

import type { RopeScaling } from '../../../config/models-schema.ts'
import type { GgufMetadata } from './read-metadata.ts'

/** What the header of weights says, with a scaling put in its place: window and scaling by the library's own names. */
export function scaleHeader(
  metadata: GgufMetadata,
  { type, factor, ...scaling }: RopeScaling,
): Record<string, unknown> {
  const architecture = String(metadata['general.architecture'])
  const said = metadata[`${architecture}.context_length`]
  const trained = scaling.trainedWindowTokens ?? (typeof said === 'number' ? said : null)
  if (trained === null) throw new Error('The weights do not say which window they were trained for.')
  return {
    [architecture]: {
      context_length: scaledWindow(trained, { type, factor, ...scaling }),
      rope: { scaling: { type, factor: asFraction(factor), original_context_length: trained } },
    },
  }
}

/** Null where the window of the training is not known. */
export function scaledWindow(trained: number | null, scaling: RopeScaling | null): number | null {
  if (scaling === null) return trained
  const window = scaling.trainedWindowTokens ?? trained
  return window === null ? null : Math.floor(window * scaling.factor)
}

/** The library takes whole numbers for integers, which a factor is not; rounded to 32 bits this is the same number. */
function asFraction(factor: number): number {
  return Number.isInteger(factor) ? factor * (1 + 2 ** -40) : factor
}
