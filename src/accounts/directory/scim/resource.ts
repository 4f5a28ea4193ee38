// What a directory sends of a user or a group, read by the schema: names in any capitals, parts as `name.givenName`, an
// extension under its own name or in front of each attribute, and truth values as texts. What no schema has is kept.

import { invalidValue, ScimFault } from './fault.ts'
import { findAttribute, findExtension, type Attribute, type ResourceType } from './schema.ts'

export type Resource = Readonly<Record<string, unknown>>
export type OpenResource = Record<string, unknown>

/** How large what is kept of one resource may be, as JSON. */
const keptCharactersMax = 65_536
const valuesMax = 10_000
/** Without it a name would be that of something every object has. */
const nameShape = /^[$A-Za-z][\w$.:-]{0,255}$/

export function isObject(value: unknown): value is Resource {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What an object has of its own under a name, in whatever capitals. */
export function readOwn(holder: unknown, name: string): unknown {
  const found = findKey(holder, name)
  return found === null ? undefined : (holder as Resource)[found]
}

function findKey(holder: unknown, name: string): string | null {
  if (!isObject(holder)) return null
  if (Object.hasOwn(holder, name)) return name
  const key = name.toLowerCase()
  return Object.keys(holder).find((one) => one.toLowerCase() === key) ?? null
}

/** Reads the body of a request that makes or replaces a resource. What is ours to say is left out. */
export function readResource(type: ResourceType, body: unknown): OpenResource {
  if (!isObject(body)) throw new ScimFault(400, 'invalidSyntax', 'The body is no JSON object.')
  const read: OpenResource = {}
  for (const [key, value] of Object.entries(body)) putValue(type, read, { key, value, isAdded: false })
  return read
}

export function requireSize(resource: Resource): void {
  if (JSON.stringify(resource).length <= keptCharactersMax) return
  throw new ScimFault(413, null, `No more than ${keptCharactersMax} characters are kept of a resource.`)
}

type Put = {
  readonly key: string
  readonly value: unknown
  /** Whether several values are added to those that are there, instead of taking their place. */
  readonly isAdded: boolean
}

/** Puts a value under a name as it stands in a body. What is ours to say is not taken. */
export function putValue(type: ResourceType, into: OpenResource, { key, value, isAdded }: Put): void {
  if (!nameShape.test(key)) throw new ScimFault(400, 'invalidSyntax', `No attribute has the name ${key.slice(0, 100)}.`)
  // Taken and forgotten: nobody signs in here by a directory’s passwords.
  if (isPassword(key)) return
  const place = findPlace(type, key)
  if (place === null) return putUnknown(type, into, { key, value })
  const { extension, attribute, part } = place
  if (attribute === null) {
    if (value !== null && !isObject(value)) throw invalidValue(key, 'an extension is an object')
    for (const [name, inner] of Object.entries(value ?? {})) {
      if (!nameShape.test(name)) throw new ScimFault(400, 'invalidSyntax', 'An attribute has no such name.')
      putValue(type, into, { key: `${extension}:${name}`, value: inner, isAdded })
    }
    return
  }
  if (attribute.mutability === 'readOnly') return
  const holder = extension === null ? into : openPart(into, extension)
  if (part === null) setValue(holder, attribute, { value, isAdded })
  else setPart(openPart(holder, attribute.name), attribute, { name: part, value })
}

/** What is not in a schema stays where it was: in an extension that is known otherwise, or beside everything else. */
function putUnknown(type: ResourceType, into: OpenResource, { key, value }: Omit<Put, 'isAdded'>): void {
  const { schema, rest } = splitUrn(key)
  const extension = schema === null ? null : findExtension(type, schema)
  if (extension === null) setUnknown(into, key, value)
  // Some write the name of an extension into it once more.
  else if (rest.toLowerCase() !== 'schemas') setUnknown(openPart(into, extension.id), rest, value)
}

export function isPassword(key: string): boolean {
  return key.slice(key.lastIndexOf(':') + 1).toLowerCase() === 'password'
}

type Place = {
  readonly extension: string | null
  /** Null is the whole extension. */
  readonly attribute: Attribute | null
  readonly part: string | null
}

/** Null is what no schema has. */
function findPlace(type: ResourceType, key: string): Place | null {
  const whole = findExtension(type, key)
  if (whole !== null) return { extension: whole.id, attribute: null, part: null }
  const { schema, rest } = splitUrn(key)
  if (schema === null || schema.toLowerCase() === type.schema.id.toLowerCase()) {
    return findIn(type.attributes, null, rest)
  }
  const extension = findExtension(type, schema)
  return extension && findIn(extension.attributes, extension.id, rest)
}

function findIn(attributes: readonly Attribute[], extension: string | null, path: string): Place | null {
  const [name = '', part = null, ...deeper] = path.split('.')
  const attribute = findAttribute(attributes, name)
  if (attribute === null || deeper.length > 0 || (part !== null && attribute.isMany)) return null
  return { extension, attribute, part }
}

/** Parts `urn:…:User:userName` into the schema and what stands behind it. */
function splitUrn(key: string): { readonly schema: string | null; readonly rest: string } {
  const end = /^urn:/i.test(key) ? key.lastIndexOf(':') : -1
  return { schema: end < 0 ? null : key.slice(0, end), rest: key.slice(end + 1) }
}

function setUnknown(into: OpenResource, key: string, value: unknown): void {
  const known = findKey(into, key) ?? key
  if (value === null || value === undefined) delete into[known]
  else into[known] = value
}

function openPart(holder: OpenResource, name: string): OpenResource {
  const found = holder[name]
  if (Object.hasOwn(holder, name) && isObject(found)) return found
  const made: OpenResource = {}
  holder[name] = made
  return made
}

type New = { readonly value: unknown; readonly isAdded: boolean }

/** Sets an attribute; nothing, and a list of nothing, take it away. */
export function setValue(holder: OpenResource, attribute: Attribute, { value, isAdded }: New): void {
  const read = readValue(attribute, value)
  const isNothing = read === null || (Array.isArray(read) && read.length === 0 && !isAdded)
  if (isNothing) delete holder[attribute.name]
  else if (isAdded && Array.isArray(read)) holder[attribute.name] = addValues(holder[attribute.name], read)
  // Parts that are not named stay as they are.
  else if (isObject(read)) holder[attribute.name] = { ...(holder[attribute.name] as Resource | undefined), ...read }
  else holder[attribute.name] = read
}

/** Sets a part of a value; one that the schema does not have is kept. */
export function setPart(
  holder: OpenResource,
  attribute: Attribute,
  { name, value }: { readonly name: string; readonly value: unknown },
): void {
  const part = findAttribute(attribute.parts, name)
  if (part?.mutability === 'readOnly') return
  if (part === null) setUnknown(holder, name, value)
  else setValue(holder, part, { value, isAdded: false })
}

/** Those that are there already are not there twice, and a new primary one is the only one. */
function addValues(known: unknown, added: readonly unknown[]): readonly unknown[] {
  const isPrimary = (value: unknown) => isObject(value) && value['primary'] === true
  const before = Array.isArray(known) ? (known as readonly unknown[]) : []
  const kept = added.some(isPrimary)
    ? before.map((value) => (isPrimary(value) ? { ...(value as Resource), primary: false } : value))
    : before
  const texts = new Set(kept.map((value) => JSON.stringify(value)))
  const values = [...kept, ...added.filter((value) => !texts.has(JSON.stringify(value)))]
  if (values.length > valuesMax) throw new ScimFault(413, null, `An attribute has at most ${valuesMax} values here.`)
  return values
}

/** A value as the schema has it; null is nothing. */
export function readValue(attribute: Attribute, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (attribute.isMany) {
    const given = Array.isArray(value) ? (value as readonly unknown[]) : [value]
    if (given.length > valuesMax) throw new ScimFault(413, null, `An attribute has at most ${valuesMax} values here.`)
    const read = given.map((one) => readOne(attribute, one)).filter((one) => one !== null)
    if (read.filter((one) => isObject(one) && one['primary'] === true).length > 1) {
      throw invalidValue(attribute.name, 'one value at most is the primary one')
    }
    return read
  }
  // Some directories write a single value as a list of one.
  return readOne(attribute, Array.isArray(value) && value.length === 1 ? value[0] : value)
}

function readOne(attribute: Attribute, value: unknown): unknown {
  const { name, type } = attribute
  if (value === null || value === undefined) return null
  if (type === 'complex') return readParts(attribute, value)
  const plain = isObject(value) && Object.hasOwn(value, 'value') ? value['value'] : value
  if (type === 'boolean') return readBoolean(name, plain)
  if (typeof plain === 'string') return plain
  throw invalidValue(name, 'is a text')
}

function readParts(attribute: Attribute, value: unknown): Resource | null {
  const { name, parts } = attribute
  if (typeof value === 'string' && findAttribute(parts, 'value') !== null) return value === '' ? null : { value }
  if (!isObject(value)) throw invalidValue(name, 'is an object')
  const read: OpenResource = {}
  for (const [key, inner] of Object.entries(value)) {
    if (!nameShape.test(key)) throw new ScimFault(400, 'invalidSyntax', 'An attribute has no such name.')
    setPart(read, attribute, { name: key, value: inner })
  }
  return Object.keys(read).length === 0 ? null : read
}

/** Some directories write truth values as texts. */
function readBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value.toLowerCase() : ''
  if (text === 'true' || text === 'false') return text === 'true'
  throw invalidValue(name, 'is true or false')
}

/** Which attributes an answer has: those that are asked for, or all but some. */
export type Projection = { readonly only: readonly string[] | null; readonly without: readonly string[] }

const always = new Set(['id', 'schemas'])

/** Cuts a resource down to what is asked for, by names such as `userName`, `name.givenName` or `urn:…:User:department`. */
export function project(type: ResourceType, resource: Resource, { only, without }: Projection): Resource {
  if (only === null && without.length === 0) return resource
  const wanted = only?.map((name) => placeOf(type, name)) ?? null
  const unwanted = without.map((name) => placeOf(type, name))
  const shown: OpenResource = {}
  for (const [key, value] of Object.entries(resource)) {
    if (always.has(key)) shown[key] = value
    else {
      const left = cut(key, value, { wanted, unwanted })
      if (left !== undefined) shown[key] = left
    }
  }
  return shown
}

/** A name as the keys on the way to what it means, in small letters. */
function placeOf(type: ResourceType, name: string): readonly string[] {
  const place = findPlace(type, name)
  if (place === null) {
    const [first = '', ...rest] = /^urn:/i.test(name) ? [name] : name.split('.')
    return [first, ...rest].map((one) => one.toLowerCase())
  }
  const { extension, attribute, part } = place
  return [extension, attribute?.name ?? null, part].filter((key) => key !== null).map((key) => key.toLowerCase())
}

type Cutting = {
  /** Null is everything. */
  readonly wanted: readonly (readonly string[])[] | null
  readonly unwanted: readonly (readonly string[])[]
}

function cut(key: string, value: unknown, { wanted, unwanted }: Cutting): unknown {
  const small = key.toLowerCase()
  const inside = (paths: readonly (readonly string[])[]) => paths.filter(([first]) => first === small)
  const chosen = wanted === null ? null : inside(wanted)
  const dropped = inside(unwanted)
  if (chosen?.length === 0 || dropped.some((path) => path.length === 1)) return undefined
  const isWhole = chosen === null || chosen.some((path) => path.length === 1)
  const next = {
    wanted: isWhole ? null : (chosen?.map((path) => path.slice(1)) ?? null),
    unwanted: dropped.map((path) => path.slice(1)),
  }
  if (next.wanted === null && next.unwanted.length === 0) return value
  if (Array.isArray(value)) return value.map((one) => cutParts(one, next))
  return cutParts(value, next)
}

function cutParts(value: unknown, cutting: Cutting): unknown {
  if (!isObject(value)) return value
  const parts = Object.entries(value).map(([key, inner]) => [key, cut(key, inner, cutting)] as const)
  return Object.fromEntries(parts.filter(([, inner]) => inner !== undefined))
}
