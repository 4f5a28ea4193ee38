/** What a settings file holds, or what is wanted in it. */
export type SettingsValue = string | number | boolean | null | readonly SettingsValue[] | SettingsTree
export type SettingsTree = { readonly [name: string]: SettingsValue }

/** Names of objects, and places in lists. */
export type SettingsPath = readonly (string | number)[]

export type Edit = {
  readonly path: SettingsPath
  /** Undefined where there was nothing. */
  readonly from: unknown
  readonly to: SettingsValue
}

/** Settings that are there and cannot be gone into, such as a text where an object must be. */
export class ShapeFault extends Error {
  override readonly name = 'ShapeFault'

  constructor(path: SettingsPath, expected: string) {
    super(`${describePath(path)} is no ${expected}`)
  }
}

/**
 * What to change so that a file says what is wanted and goes on to say all the rest.
 *
 * Objects are merged name by name. In a list of objects, an item takes the place of
 * the one with the same `id` or `name`, or comes last. Everything else is replaced.
 * Each edit has a place that exists already, so that the comments around it stay.
 */
export function planEdits(current: unknown, wanted: SettingsTree, defaults: SettingsTree = {}): Edit[] {
  const inDefaults = planObject([], current, defaults, { overrules: false })
  // Wanted ones last: where a default has made an object, they find it made.
  const between = applyEdits(current, inDefaults)
  return [...inDefaults, ...planObject([], between, wanted, { overrules: true })]
}

type Manner = { readonly overrules: boolean }

function planValue(path: SettingsPath, current: unknown, wanted: SettingsValue, manner: Manner): Edit[] {
  if (isTree(wanted)) return planObject(path, current, wanted, manner)
  if (isListOfTrees(wanted)) return planList(path, current, wanted, manner)
  const isSame = JSON.stringify(current) === JSON.stringify(wanted)
  if (isSame || (current !== undefined && !manner.overrules)) return []
  return [{ path, from: current, to: wanted }]
}

function planObject(path: SettingsPath, current: unknown, wanted: SettingsTree, manner: Manner): Edit[] {
  if (current === undefined || current === null) return [{ path, from: current, to: wanted }]
  if (!isTree(current)) throw new ShapeFault(path, 'object')
  return Object.entries(wanted).flatMap(([name, value]) =>
    planValue([...path, name], Object.hasOwn(current, name) ? current[name] : undefined, value, manner),
  )
}

function planList(path: SettingsPath, current: unknown, wanted: readonly SettingsTree[], manner: Manner): Edit[] {
  if (current === undefined || current === null) return [{ path, from: current, to: wanted }]
  if (!Array.isArray(current)) throw new ShapeFault(path, 'list')
  let length = current.length
  return wanted.flatMap((item) => {
    const index = current.findIndex((other: unknown) => isTree(other) && identityOf(other) === identityOf(item))
    if (index !== -1) return planObject([...path, index], current[index], item, manner)
    length += 1
    return [{ path: [...path, length - 1], from: undefined, to: item }]
  })
}

function identityOf(item: SettingsTree): SettingsValue | undefined {
  return item['id'] ?? item['name']
}

/** The same edits on a value instead of a text: what must be in the file afterwards. */
export function applyEdits(current: unknown, edits: readonly Edit[]): unknown {
  return edits.reduce<unknown>((value, { path, to }) => setAt(value, path, to), current)
}

function setAt(value: unknown, [step, ...rest]: SettingsPath, to: SettingsValue): unknown {
  if (step === undefined) return to
  if (Array.isArray(value)) {
    const copy: unknown[] = [...(value as unknown[])]
    copy[Number(step)] = setAt(copy[Number(step)], rest, to)
    return copy
  }
  const object = isTree(value) ? value : {}
  return { ...object, [step]: setAt(object[step], rest, to) }
}

export function isTree(value: unknown): value is SettingsTree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isListOfTrees(value: SettingsValue): value is readonly SettingsTree[] {
  return Array.isArray(value) && value.length > 0 && value.every(isTree)
}

/** As one would write it in a program: `models["hal-1.0"].limit`, `roles[0]`. */
export function describePath(path: SettingsPath): string {
  const text = path
    .map((step) => {
      if (typeof step === 'number') return `[${step}]`
      return /^[\w$-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
    })
    .join('')
  return text.replace(/^\./, '') || 'the file'
}
