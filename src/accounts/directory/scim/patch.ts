// Changes of parts of a resource (RFC 7644, section 3.5.2), as Entra and Okta write them too. The resource that is given
// stays as it is: where one change cannot be made, none is.

import { ScimFault } from './fault.ts'
import { matchesValue, parseTarget, type Filter, type Target } from './filter.ts'
import { isObject, isPassword, putValue, readOwn, readValue, setPart, setValue } from './resource.ts'
import type { OpenResource, Resource } from './resource.ts'
import { findAttribute, findExtension, type Attribute, type ResourceType } from './schema.ts'

const operationsMax = 1_000

type Operation = {
  readonly kind: 'add' | 'replace' | 'remove'
  readonly path: string | null
  readonly value: unknown
}

export function applyPatch(type: ResourceType, resource: Resource, body: unknown): OpenResource {
  const patched = structuredClone(resource) as OpenResource
  for (const operation of readOperations(body)) applyOperation(type, patched, operation)
  return patched
}

function readOperations(body: unknown): readonly Operation[] {
  const given = readOwn(body, 'Operations')
  if (!Array.isArray(given) || given.length === 0) throw invalidSyntax('Operations is a list with one at least.')
  if (given.length > operationsMax)
    throw new ScimFault(413, 'tooMany', `At most ${operationsMax} operations are taken.`)
  return given.map(readOperation)
}

function readOperation(given: unknown): Operation {
  const [kind, path] = [readOwn(given, 'op'), readOwn(given, 'path') ?? null]
  const known = (['add', 'replace', 'remove'] as const).find(
    (one) => typeof kind === 'string' && one === kind.toLowerCase(),
  )
  if (known === undefined) throw invalidSyntax('op is add, replace or remove.')
  if (path !== null && typeof path !== 'string') throw new ScimFault(400, 'invalidPath', 'A path is a text.')
  return { kind: known, path: path === '' ? null : path, value: readOwn(given, 'value') }
}

function invalidSyntax(message: string): ScimFault {
  return new ScimFault(400, 'invalidSyntax', message)
}

function applyOperation(type: ResourceType, into: OpenResource, operation: Operation): void {
  const { kind, path, value } = operation
  if (path !== null) return applyAt(type, into, { ...operation, path })
  if (kind === 'remove') throw new ScimFault(400, 'noTarget', 'What is to be removed has to have a path.')
  if (!isObject(value)) throw new ScimFault(400, 'invalidValue', 'Without a path the value is an object.')
  for (const [key, inner] of Object.entries(value)) {
    if (key.includes('[')) applyAt(type, into, { kind, path: key, value: inner })
    else putValue(type, into, { key, value: inner, isAdded: kind === 'add' })
  }
}

type Aimed = Operation & { readonly path: string }

function applyAt(type: ResourceType, into: OpenResource, operation: Aimed): void {
  const target = parseTarget(type, operation.path)
  const { schema, name } = target.path
  if (schema === null && isPassword(name)) return
  if (schema === null) {
    return applyTo(into, requireAttribute(type.attributes, target, operation.path), { target, operation })
  }
  const extension = findExtension(type, schema)
  const key = extension?.id ?? schema
  if (extension !== null && name === '') return applyToExtension(type, into, { key, operation })
  const holder = isObject(into[key]) ? (into[key] as OpenResource) : {}
  if (extension === null) applyUnknown(holder, target, operation)
  else applyTo(holder, requireAttribute(extension.attributes, target, operation.path), { target, operation })
  if (Object.keys(holder).length === 0) delete into[key]
  else into[key] = holder
}

function applyToExtension(
  type: ResourceType,
  into: OpenResource,
  { key, operation }: { readonly key: string; readonly operation: Operation },
): void {
  if (operation.kind === 'remove') delete into[key]
  else putValue(type, into, { key, value: operation.value, isAdded: operation.kind === 'add' })
}

/** An attribute of a schema that is not known here is kept as it comes. */
function applyUnknown(holder: OpenResource, { path, filter }: Target, { kind, value }: Aimed): void {
  if (filter !== null || path.part !== null) throw new ScimFault(400, 'invalidPath', 'This schema is not known here.')
  if (kind === 'remove' || value === null || value === undefined) delete holder[path.name]
  else holder[path.name] = value
}

function requireAttribute(attributes: readonly Attribute[], { path, filter }: Target, text: string): Attribute {
  const attribute = findAttribute(attributes, path.name)
  const part = attribute !== null && path.part !== null ? findAttribute(attribute.parts, path.part) : null
  const isPath = attribute !== null && (path.part === null || part !== null) && (filter === null || attribute.isMany)
  if (!isPath) throw new ScimFault(400, 'invalidPath', `There is no attribute ${text.slice(0, 200)}.`)
  if (attribute.mutability === 'readOnly' || part?.mutability === 'readOnly') {
    throw new ScimFault(400, 'mutability', `${text.slice(0, 200)} cannot be changed.`)
  }
  return attribute
}

type Applied = { readonly target: Target; readonly operation: Operation }

function applyTo(holder: OpenResource, attribute: Attribute, { target, operation }: Applied): void {
  const { kind, value } = operation
  const { path, filter } = target
  if (filter !== null || (path.part !== null && attribute.isMany)) {
    return applyToValues(holder, attribute, { target, operation })
  }
  if (path.part !== null) return applyToPart(holder, attribute, { name: path.part, operation })
  if (kind !== 'remove') return setValue(holder, attribute, { value, isAdded: kind === 'add' })
  // Entra names the values that are to go; others mean all of them.
  const isSome = attribute.isMany && value !== undefined && value !== null
  if (isSome) return keepValues(holder, attribute, (one) => !isNamed(attribute, one, value))
  // Nothing is said of whom the directory has switched off, and they must not come back by it.
  if (attribute.name === 'active') throw new ScimFault(400, 'mutability', 'active is true or false, and stays.')
  delete holder[attribute.name]
}

function applyToPart(
  holder: OpenResource,
  attribute: Attribute,
  { name, operation }: { readonly name: string; readonly operation: Operation },
): void {
  const found = holder[attribute.name]
  const whole: OpenResource = isObject(found) ? { ...found } : {}
  setPart(whole, attribute, { name, value: operation.kind === 'remove' ? null : operation.value })
  if (Object.keys(whole).length === 0) delete holder[attribute.name]
  else holder[attribute.name] = whole
}

function isNamed(attribute: Attribute, value: unknown, named: unknown): boolean {
  const names = readValue(attribute, named)
  if (!Array.isArray(names)) return false
  return names.some((one: unknown) => {
    if (!isObject(one) || !isObject(value)) return one === value
    const keys = one['value'] === undefined ? Object.keys(one) : ['value']
    return keys.every((key) => JSON.stringify(one[key]) === JSON.stringify(value[key]))
  })
}

function keepValues(holder: OpenResource, { name }: Attribute, isKept: (value: unknown) => boolean): void {
  const kept = valuesOf(holder, name).filter(isKept)
  if (kept.length === 0) delete holder[name]
  else holder[name] = kept
}

function valuesOf(holder: OpenResource, name: string): readonly unknown[] {
  const found = holder[name]
  return Array.isArray(found) ? found : []
}

function applyToValues(holder: OpenResource, attribute: Attribute, { target, operation }: Applied): void {
  const { path, filter } = target
  const isChosen = (value: unknown) => filter === null || matchesValue(attribute, filter, value)
  if (operation.kind === 'remove' && path.part === null) {
    return keepValues(holder, attribute, (value) => !isChosen(value))
  }
  const values = valuesOf(holder, attribute.name)
  const change = (value: unknown) => changeValue(attribute, value, { part: path.part, operation })
  if (values.some(isChosen)) {
    const changed = values.map((value) => (isChosen(value) ? change(value) : value))
    holder[attribute.name] = requireOnePrimary(changed, values)
  } else if (operation.kind !== 'remove') {
    const made = change(seed(attribute, filter, operation))
    setValue(holder, attribute, { value: [made], isAdded: true })
  }
}

type Change = { readonly part: string | null; readonly operation: Operation }

function changeValue(attribute: Attribute, value: unknown, { part, operation }: Change): unknown {
  const changed: OpenResource = isObject(value) ? { ...value } : { value }
  if (part !== null) {
    setPart(changed, attribute, { name: part, value: operation.kind === 'remove' ? null : operation.value })
    return changed
  }
  const [read] = (readValue(attribute, operation.value) ?? []) as readonly unknown[]
  return isObject(read) ? { ...changed, ...read } : changed
}

/** A value that is not there yet is made so that the filter would choose it. */
function seed(attribute: Attribute, filter: Filter | null, { path }: Operation): OpenResource {
  const value: OpenResource = {}
  const sides = filter === null ? [] : filter.kind === 'and' ? filter.sides : [filter]
  for (const side of sides) {
    if (side.kind !== 'compare' || side.operator !== 'eq') throw noTarget(path)
    setPart(value, attribute, { name: side.path.name, value: side.value })
  }
  if (sides.length === 0) throw noTarget(path)
  return value
}

function noTarget(path: string | null): ScimFault {
  return new ScimFault(400, 'noTarget', `There is nothing at ${(path ?? '').slice(0, 200)}.`)
}

/** Where a value has become the primary one, the one before is it no more. */
function requireOnePrimary(changed: readonly unknown[], before: readonly unknown[]): readonly unknown[] {
  const isPrimary = (value: unknown) => isObject(value) && value['primary'] === true
  const isNew = changed.map((value, index) => isPrimary(value) && !isPrimary(before[index]))
  if (!isNew.includes(true)) return changed
  const last = isNew.lastIndexOf(true)
  return changed.map((value, index) =>
    isPrimary(value) && index !== last ? { ...(value as Resource), primary: false } : value,
  )
}
