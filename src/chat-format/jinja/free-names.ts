import type { Node } from './locate-fault.ts'

/** The names that a template reads and does not always set, so that whoever renders it has to give them. Each once, as first read. */
export function freeNames(program: unknown): string[] {
  const read = new Set<string>()
  const set = new Set(statementsOf(program).flatMap(setBy))
  const open: unknown[] = [program]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (isNode(part) && part.type === 'Identifier') read.add(String(part['value']))
    // What a branch sets may have no value without it.
    if (!isNode(part) || part.type !== 'Set') for (const name of setBy(part)) set.add(name)
    open.push(...readIn(part).toReversed())
  }
  return [...read].filter((name) => !set.has(name))
}

function isNode(part: unknown): part is Node {
  return typeof part === 'object' && part !== null && typeof (part as Partial<Node>).type === 'string'
}

function statementsOf(program: unknown): unknown[] {
  return isNode(program) && Array.isArray(program['body']) ? (program['body'] as unknown[]) : []
}

/** The names that a part of a template gives a value to. */
function setBy(part: unknown): string[] {
  if (!isNode(part)) return []
  switch (part.type) {
    case 'Set':
      return names(part['assignee'])
    case 'For':
      return names(part['loopvar'])
    case 'Macro':
      return [part['name'], part['args']].flatMap(names)
    case 'CallStatement':
      return names(part['callerArgs'])
    default:
      return []
  }
}

function names(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(names)
  if (!isNode(part)) return []
  if (part.type === 'KeywordArgumentExpression') return names(part['key'])
  return part.type === 'Identifier' ? [String(part['value'])] : names(part.type === 'TupleLiteral' && part['value'])
}

/** The parts of a part in which names are read: those of members, filters, tests and arguments are names of another kind. */
function readIn(part: unknown): unknown[] {
  if (Array.isArray(part)) return part as unknown[]
  if (part instanceof Map) return [...part].flat()
  if (!isNode(part)) return []
  const { type: _, operator: __, key: ___, property, filter, test, ...others } = part
  const isComputed = part['computed'] === true
  const isTest = part.type === 'TestExpression'
  return [
    ...Object.values(others),
    isComputed ? property : undefined,
    argumentsOf(filter),
    isTest ? argumentsOf(test) : test,
  ].filter((inner) => typeof inner === 'object' && inner !== null)
}

function argumentsOf(called: unknown): unknown {
  return isNode(called) && called.type === 'CallExpression' ? called['args'] : undefined
}
