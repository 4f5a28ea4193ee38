import { invalidRequest } from '../core/error.ts'
import { isPrintable } from '../lib/is-printable.ts'

const lengthMax = 200

/**
 * A name as people gave it, without white space around it. Throws for one that is empty, endless or unprintable.
 *
 * The only rule for the names of organizations, projects, members and keys of
 * either kind. Whoever lists names reads them on a terminal or a page, which a
 * name must not rearrange, and tells two apart by looking at them. Names from
 * before this rule are shown as they are.
 */
export function checkName(name: string): string {
  const trimmed = name.trim()
  if (trimmed !== '' && trimmed.length <= lengthMax && isPrintable(trimmed)) return trimmed
  const rule = `A name has from 1 to ${lengthMax} printable characters, and none that is invisible or changes the direction of writing.`
  throw invalidRequest(['name'], 'value', rule)
}
