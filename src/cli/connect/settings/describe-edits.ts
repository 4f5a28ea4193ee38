import { describePath, isTree, type Edit, type SettingsPath } from './plan-edits.ts'

/** The changes as a diff would show them, a line for each value, with no key readable. */
export function describeEdits(edits: readonly Edit[], key: string): string[] {
  return edits.flatMap(({ path, from, to }) => {
    const isSecret = JSON.stringify(to).includes(key)
    // What stood in the place of the key was a key too, of somebody else's.
    const removed = from === undefined ? [] : leavesOf(path, isSecret && !isTree(from) ? '…' : from)
    const added = leavesOf(path, to)
    return [
      ...removed.map(([where, value]) => `  - ${describePath(where)}: ${JSON.stringify(value)}`),
      ...added.map(([where, value]) => `  + ${describePath(where)}: ${JSON.stringify(hide(value, key))}`),
    ]
  })
}

type Leaf = readonly [path: SettingsPath, value: unknown]

/** Lists of plain values are told as one. */
function leavesOf(path: SettingsPath, value: unknown): Leaf[] {
  if (isTree(value)) return Object.entries(value).flatMap(([name, member]) => leavesOf([...path, name], member))
  if (Array.isArray(value) && value.some(isTree)) {
    return value.flatMap((item: unknown, index) => leavesOf([...path, index], item))
  }
  return [[path, value]]
}

function hide(value: unknown, key: string): unknown {
  return value === key ? `…${key.slice(-4)}` : value
}
