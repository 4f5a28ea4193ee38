import type { CallNotation, KnownCalls, KnownKind } from '../tool-format/tool-format.ts'
import { bareKeys } from './bare-keys.ts'
import { harmony } from './harmony.ts'
import type { KnownNotation } from './known-notation.ts'
import { pythonicCalls } from './pythonic-calls.ts'

/** Every notation that is written by hand. A further one adds its file and a line here. */
export const knownNotations: Readonly<Record<KnownKind, KnownNotation>> = {
  pythonic: pythonicCalls,
  'bare-keys': bareKeys,
  harmony,
}

export function isKnown(notation: CallNotation): notation is KnownCalls {
  return Object.hasOwn(knownNotations, notation.kind)
}
