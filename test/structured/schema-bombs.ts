// Schemas made to cost more than they say: in depth, in number, by reference, by repetition, by pattern.

export type Schema = Readonly<Record<string, unknown>>

/** `refused` ones must end in 400; the others may also be answered, as long as they do no harm. */
export type Bomb = { readonly name: string; readonly schema: Schema; readonly isRefused: boolean }

const text = { type: 'string' }
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more })
const inProperty = (schema: Schema): Schema => object({ a: schema }, { required: ['a'] })
const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i))
const record = (count: number, make: (index: number) => unknown): Schema =>
  Object.fromEntries(times(count, (index) => [`p${index}`, make(index)]))

function nested(depth: number, wrap: (inner: Schema) => Schema): Schema {
  let schema: Schema = text
  for (let level = 0; level < depth; level++) schema = wrap(schema)
  return inProperty(schema)
}

/** Each definition uses the one before it twice, so that written out there are 2^count. */
function doubling(count: number, join: (reference: Schema) => Schema): Schema {
  const definitions = record(count, (index) => (index === 0 ? text : join({ $ref: `#/$defs/p${index - 1}` })))
  return { ...inProperty({ $ref: `#/$defs/p${count - 1}` }), $defs: definitions }
}

const size: readonly (readonly [string, Schema])[] = [
  ['a depth of 40', nested(40, (inner) => ({ type: 'array', items: inner }))],
  ['5,001 properties', object(record(5_001, () => text))],
  ['5,001 properties in many objects', object(record(100, () => object(record(51, () => text))))],
  ['1,001 values', inProperty({ enum: times(1_001, (index) => `v${index}`) })],
  ['1,001 values in many lists', object(record(11, (list) => ({ enum: times(91, (index) => list * 91 + index) })))],
  ['names of 120,001 characters', object({ ['x'.repeat(120_001)]: text })],
  ['a constant of 200,000 characters', inProperty({ const: 'x'.repeat(200_000) })],
  ['30,000 alternatives', inProperty({ anyOf: times(30_000, () => text) })],
]

const references: readonly (readonly [string, Schema])[] = [
  ['a reference to itself', inProperty({ $ref: '#/properties/a' })],
  [
    'a circle of references',
    { ...inProperty({ $ref: '#/$defs/x' }), $defs: { x: { $ref: '#/$defs/y' }, y: { $ref: '#/$defs/x' } } },
  ],
  [
    'a circle through allOf',
    { ...inProperty({ $ref: '#/$defs/x' }), $defs: { x: { allOf: [{ $ref: '#/$defs/x' }] } } },
  ],
  [
    'a circle through anyOf',
    { ...inProperty({ $ref: '#/$defs/x' }), $defs: { x: { anyOf: [text, { $ref: '#/$defs/x' }] } } },
  ],
  ['a reference to nothing', inProperty({ $ref: '#/$defs/none' })],
  ['a reference to the network', inProperty({ $ref: 'http://169.254.169.254/latest/meta-data' })],
  ['a reference to a file', inProperty({ $ref: 'file:///etc/passwd' })],
  ['a reference to the prototype', inProperty({ $ref: '#/__proto__/constructor' })],
  ['references doubled 40 times', doubling(40, (one) => object({ l: one, r: one }))],
  ['anyOf doubled 40 times', doubling(40, (one) => ({ anyOf: [one, one] }))],
  ['allOf doubled 40 times', doubling(40, (one) => ({ allOf: [one, one] }))],
  ['oneOf doubled 40 times', doubling(40, (one) => ({ oneOf: [one, one] }))],
]

const patterns: readonly (readonly [string, string])[] = [
  ['an open group', '(a'],
  ['an open class', '[a'],
  ['nothing to repeat', '*a'],
  ['a class out of order', '[z-a]'],
  ['counts out of order', 'a{3,2}'],
  ['a lone backslash', 'a\\'],
  ['a back reference', '(a)\\1'],
  ['a named back reference', '(?<x>a)\\k<x>'],
  ['look-behind', '(?<=a)b'],
  ['look-ahead within', 'a(?=b)c'],
  ['an inline flag', '(?i)a'],
  ['an atomic group', '(?>a+)b'],
  ['2,000 repetitions', 'a{2000}'],
  ['a billion repetitions', '^a{1,1000000000}$'],
  ['repetitions within repetitions', '^((((a{100}){100}){100}){100})$'],
  ['groups nested 500 deep', `${'('.repeat(500)}a${')'.repeat(500)}`],
  ['an automaton of 2^30 states', '(a|b)*a(a|b){30}$'],
]

/** These cost a backtracking engine its life and an automaton nothing. */
const harmlessPatterns = [
  '^(a+)+$',
  '^(a|aa)+$',
  '^([a-zA-Z]+)*$',
  '^(a?){30}a{30}$',
  '^(.*a){12}$',
  '(x+x+)+y',
  '^\\p{L}+$',
]

const numbers: readonly (readonly [string, Schema])[] = [
  ['minLength 10^9', inProperty({ ...text, minLength: 1e9 })],
  ['minItems 10^9', inProperty({ type: 'array', items: text, minItems: 1e9 })],
  ['minItems 9,999', inProperty({ type: 'array', items: text, minItems: 9_999 })],
  ['bounds out of order', inProperty({ ...text, minLength: 3, maxLength: 2 })],
  ['a negative length', inProperty({ ...text, minLength: -1 })],
  ['minProperties 10^6', inProperty({ type: 'object', minProperties: 1e6 })],
  [
    'minItems within minItems',
    inProperty({ type: 'array', minItems: 500, items: { type: 'array', minItems: 500, items: text } }),
  ],
]

const combinations: readonly (readonly [string, Schema])[] = [
  ['nothing is allowed', inProperty({ allOf: [text, { type: 'integer' }] })],
  ['not', inProperty({ not: text })],
  [
    'a product of alternatives',
    inProperty({
      allOf: times(20, (one) => ({
        anyOf: times(10, (other) => object({ [`k${one}`]: { const: other } }, { required: [`k${one}`] })),
      })),
    }),
  ],
  ['a malformed type', inProperty({ type: 'strnig' })],
  ['properties that are none', inProperty({ type: 'object', properties: [] })],
]

/** May be refused or answered. */
const endured: readonly (readonly [string, Schema])[] = [
  ['maxItems 10^9', inProperty({ type: 'array', items: text, maxItems: 1e9 })],
  ['maxLength 10^9', inProperty({ ...text, maxLength: 1e9 })],
  [
    'maxItems within maxItems',
    inProperty({ type: 'array', maxItems: 9_999, items: { type: 'array', maxItems: 9_999, items: text } }),
  ],
  ['uniqueItems', inProperty({ type: 'array', uniqueItems: true, items: { type: 'integer' } })],
  ['bounds of 300 digits', inProperty({ type: 'number', minimum: -1.7e308, maximum: 1.7e308 })],
  ['a smallest step', inProperty({ type: 'number', multipleOf: 5e-324 })],
  ['4,999 optional properties', object(record(4_999, () => text))],
  [
    '200 optional properties of which two may be there',
    object(
      record(200, () => text),
      { maxProperties: 2 },
    ),
  ],
  [
    '300 branches of one',
    inProperty({
      oneOf: times(300, (index) => object({ kind: { const: `k${index}` }, v: text }, { required: ['kind'] })),
    }),
  ],
  [
    '60 patterns for names',
    inProperty({
      type: 'object',
      patternProperties: Object.fromEntries(times(60, (index) => [`^a.*${index}$`, text])),
    }),
  ],
  [
    'names that differ in their last letter',
    object(
      record(150, () => text),
      { additionalProperties: text },
    ),
  ],
  ['40 patterns', object(record(40, (index) => ({ ...text, pattern: `^(a|b|c)*x{${index}}$` })))],
  [
    'names of prototypes',
    object({ __proto__: text, constructor: text, hasOwnProperty: text }, { required: ['constructor'] }),
  ],
]

export const bombs: readonly Bomb[] = [
  ...[...size, ...references, ...numbers, ...combinations].map(([name, schema]) => ({ name, schema, isRefused: true })),
  ...patterns.map(([name, pattern]) => ({ name, schema: inProperty({ ...text, pattern }), isRefused: true })),
  ...harmlessPatterns.map((pattern) => ({ name: pattern, schema: inProperty({ ...text, pattern }), isRefused: false })),
  ...endured.map(([name, schema]) => ({ name, schema, isRefused: false })),
]
