import type { Random } from '../random.ts'

/**
 * JSON as it is written and not as it is read: keys may repeat or be called `__proto__`,
 * and a value may be text that no value is written as.
 */
type Node =
  | { readonly kind: 'object'; readonly entries: [key: string, value: Node][] }
  | { readonly kind: 'array'; readonly items: Node[] }
  | { readonly kind: 'text'; readonly text: string }

/** Damages a body in one place or two. The result is bytes, since it need not be text. */
export function mutateBody(random: Random, body: unknown): Buffer {
  const root = toNode(body)
  const times = random.pick([1, 1, 2])
  let damaged: Node = root
  for (let time = 0; time < times; time++) damaged = mutateSomewhere(random, damaged)
  const bytes = Buffer.from(write(damaged))
  return random.chance(0.12) ? mutateBytes(random, bytes) : bytes
}

function toNode(value: unknown): Node {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(toNode) }
  if (typeof value === 'object' && value !== null) {
    return { kind: 'object', entries: Object.entries(value).map(([key, member]) => [key, toNode(member)]) }
  }
  return { kind: 'text', text: JSON.stringify(value) }
}

function write(node: Node): string {
  switch (node.kind) {
    case 'text':
      return node.text
    case 'array':
      return `[${node.items.map(write).join(',')}]`
    case 'object':
      return `{${node.entries.map(([key, value]) => `${JSON.stringify(key)}:${write(value)}`).join(',')}}`
  }
}

/** Goes down a random way and changes what is there. */
function mutateSomewhere(random: Random, node: Node): Node {
  const children = node.kind === 'object' ? node.entries.length : node.kind === 'array' ? node.items.length : 0
  if (children === 0 || random.chance(0.12)) return mutateHere(random, node)
  const index = random.integer(0, children - 1)
  if (node.kind === 'array') {
    if (random.chance(0.1)) return mutateHere(random, node)
    return { ...node, items: node.items.map((item, at) => (at === index ? mutateSomewhere(random, item) : item)) }
  }
  if (node.kind !== 'object') return node
  if (random.chance(0.2)) return mutateEntries(random, node)
  const entries = node.entries.map(([key, value], at): [string, Node] =>
    at === index ? [key, mutateSomewhere(random, value)] : [key, value],
  )
  return { ...node, entries }
}

function mutateEntries(random: Random, node: Extract<Node, { kind: 'object' }>): Node {
  const entries = node.entries.map((entry): [string, Node] => [...entry])
  const index = random.integer(0, entries.length - 1)
  const entry = entries[index]
  if (entry === undefined) return node
  switch (random.integer(0, 3)) {
    case 0:
      entries.splice(index, 1)
      break
    case 1:
      entries.push([entry[0], random.chance(0.5) ? entry[1] : oddValue(random)])
      break
    case 2:
      entry[0] = random.pick(oddKeys)
      break
    default:
      entries.push([random.pick(oddKeys), oddValue(random)])
  }
  return { kind: 'object', entries }
}

function mutateHere(random: Random, node: Node): Node {
  if (node.kind === 'array' && random.chance(0.4)) {
    const copies = random.pick([0, 2, 20, 200])
    return { kind: 'array', items: Array.from({ length: copies }, () => node.items.at(0) ?? oddValue(random)) }
  }
  if (random.chance(0.1)) return { kind: 'array', items: [node] }
  return oddValue(random)
}

const oddKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'моdel',
  'role\u0000',
  '\u202emodel',
  'ключ🙂',
  'k'.repeat(5_000),
  'model',
  'messages',
  'max_tokens',
  'stream',
  'type',
  'content',
  'n',
]

const oddScalars = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1',
  '0.5',
  '1.0000000001',
  '9007199254740993',
  '18446744073709551616',
  '1e308',
  '-1e308',
  '1e-320',
  '1e999',
  '-1e999',
  'NaN',
  'Infinity',
  'undefined',
  '01',
  '+1',
  '.5',
  '0x10',
  "'x'",
  '""',
  '" "',
  '"5"',
  '"true"',
  '"null"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\x"',
  '"<think>"',
  '"</think>"',
  '"<|im_start|>system"',
  '"<s>"',
  '"hal-1.0"',
  '"hal-1.0 "',
  '"HAL-1.0"',
  '"../../etc/passwd"',
  '"assistant"',
  '"tool"',
  '"\u202e🙂é"',
  '{}',
  '[]',
  '[[]]',
  '[null]',
  '{"type":"text"}',
  '{"type":"__proto__"}',
  '{"__proto__":{"isAdmin":true}}',
  '{"type":"tool_use","id":"a","name":"b","input":{}}',
  '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!!"}}',
  '{"type":"image_url","image_url":{"url":"http://127.0.0.1/"}}',
]

function oddValue(random: Random): Node {
  const choice = random.next()
  if (choice < 0.85) return { kind: 'text', text: random.pick(oddScalars) }
  if (choice < 0.92) return { kind: 'text', text: JSON.stringify('a🙂 '.repeat(random.integer(1, 400))) }
  if (choice < 0.985) return nested(random, random.pick([10, 63, 64, 65, 500, 10_000]))
  if (choice < 0.996) return { kind: 'text', text: `[${'1,'.repeat(random.pick([1_000, 250_000]))}1]` }
  // Far beyond every window: refused for its length, which takes counting it.
  return { kind: 'text', text: JSON.stringify(random.pick(longWords).repeat(random.pick([40_000, 200_000]))) }
}

/** A tokenizer that is fast with one of these may be slow with another. */
const longWords = ['word ', 'a', ' ', '🙂', '<think>', '<|im_start|>', '\n', '\u0000']

function nested(random: Random, depth: number): Node {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const)
  return { kind: 'text', text: `${open.repeat(depth)}1${close.repeat(depth)}` }
}

/** Damage below the level of JSON. */
function mutateBytes(random: Random, bytes: Buffer): Buffer {
  const at = random.integer(0, Math.max(0, bytes.length - 1))
  const insert = (piece: Buffer) => Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
  switch (random.integer(0, 7)) {
    case 0:
      return bytes.subarray(0, at)
    case 1: {
      const flipped = Buffer.from(bytes)
      for (let time = 0; time < 4; time++) {
        const place = random.integer(0, Math.max(0, bytes.length - 1))
        flipped[place] = (flipped[place] ?? 0) ^ (1 << random.integer(0, 7))
      }
      return flipped
    }
    case 2:
      // A cut character, an overlong slash, and a surrogate as UTF-8 must not be written.
      return insert(random.pick([Buffer.of(0xff), Buffer.of(0xc0, 0xaf), Buffer.of(0xed, 0xa0, 0x80), Buffer.of(0)]))
    case 3:
      return Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bytes])
    case 4:
      return Buffer.concat([bytes, Buffer.from(random.pick([',', '}', ' x', '\0', '{}', '\n\n']))])
    case 5:
      return insert(Buffer.from(random.pick([',', ':', '"', '\\', '{', '[', ']', '\n', '/* */'])))
    case 6:
      return Buffer.alloc(0)
    default:
      return Buffer.from(random.pick(['null', '[]', '"text"', '1', 'true', '{}', ' ', '{"model":"hal-1.0"}']))
  }
}
