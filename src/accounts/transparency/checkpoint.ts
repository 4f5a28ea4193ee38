// A checkpoint as C2SP's tlog-checkpoint describes it: a signed note that says how large a log is and what its root is.

import type { TreeHash } from '../../lib/merkle-tree.ts'

export type Checkpoint = {
  /** Which log it is of. */
  readonly origin: string
  readonly size: number
  readonly root: TreeHash
}

/** The text that is signed: three lines. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}

/** Reads the text of a note; null where it is no checkpoint. Lines behind the third are allowed, and mean nothing here. */
export function parseCheckpoint(text: string): Checkpoint | null {
  const [origin = '', size = '', root = ''] = text.split('\n')
  const hash = Buffer.from(root, 'base64')
  if (origin === '' || !/^(0|[1-9]\d{0,14})$/.test(size)) return null
  return hash.length === 32 && hash.toString('base64') === root ? { origin, size: Number(size), root: hash } : null
}
