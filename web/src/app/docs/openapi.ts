// The parts of an OpenAPI document that pages show, and what is made of them.

export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly additionalProperties?: boolean | Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly default?: unknown
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>
export type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}
type Response = { readonly description?: string; readonly content?: Content; readonly $ref?: string }
type DescribedOperation = {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

export type Operation = DescribedOperation & { readonly method: string; readonly path: string; readonly tag: string }

/** Every operation, in the order of the document. */
export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      tag: operation.tags?.[0] ?? 'other',
    })),
  )
}

/** What a reference leads to; a schema that is none is itself. */
export function resolve(schema: Schema, { components }: OpenApi): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (components?.schemas?.[name] ?? schema)
}

/** A type in a few words, with its limits. */
export function wordsOfType(schema: Schema, document: OpenApi): string {
  const own = resolve(schema, document)
  const choices = own.anyOf ?? own.oneOf
  if (choices !== undefined) return [...new Set(choices.map((choice) => wordsOfType(choice, document)))].join(' or ')
  if (own.const !== undefined) return JSON.stringify(own.const)
  if (own.enum !== undefined) return own.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (own.items !== undefined) return `list of ${wordsOfType(own.items, document)}`
  const type = typeof own.type === 'string' ? own.type : (own.type?.join(' or ') ?? 'anything')
  return [type, ...limitsOf(own)].join(', ')
}

function limitsOf({ minimum, maximum, minLength, maxLength, format }: Schema): string[] {
  const isBound = (value: number | undefined): value is number =>
    value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER
  return [
    ...(format === undefined ? [] : [format]),
    ...(isBound(minimum) ? [`at least ${minimum}`] : []),
    ...(isBound(maximum) ? [`at most ${maximum}`] : []),
    ...(minLength === undefined ? [] : [`${minLength} characters or more`]),
    ...(maxLength === undefined ? [] : [`${maxLength} characters at most`]),
  ]
}

/** The fields below a schema, also where it is a list, a table by names, or one of several forms. */
export function fieldsBelow(
  schema: Schema,
  document: OpenApi,
  above: ReadonlySet<Schema> = new Set(),
): Pick<Schema, 'properties' | 'required'> | null {
  const own = resolve(schema, document)
  // A form that is a list of itself has nothing new below.
  if (above.has(own)) return null
  const { items, prefixItems = [], additionalProperties: values, anyOf = [], oneOf = [], allOf = [] } = own
  const parts = [...(items === undefined ? [] : [items]), ...prefixItems, ...anyOf, ...oneOf, ...allOf]
  if (typeof values === 'object') parts.push(values)
  const below = parts.flatMap((part) => fieldsBelow(part, document, new Set([...above, own])) ?? [])
  const forms = own.properties === undefined ? below : [own, ...below]
  return forms.length < 2 ? (forms[0] ?? null) : joinForms(forms)
}

/** Of several forms all fields are shown; which of them go together is in the document itself. */
function joinForms(forms: readonly Pick<Schema, 'properties' | 'required'>[]): Pick<Schema, 'properties' | 'required'> {
  const names = new Set(forms.flatMap(({ properties = {} }) => Object.keys(properties)))
  const properties = Array.from(names, (name) => {
    const schemas = forms.flatMap((form) => form.properties?.[name] ?? [])
    const different = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]))
    const [first = {}, ...others] = different.values()
    return [name, others.length === 0 ? first : { anyOf: [first, ...others] }] as const
  })
  const required = [...names].filter((name) => forms.every((form) => form.required?.includes(name) === true))
  return { properties: Object.fromEntries(properties), required }
}
