// Writes web/src/api/types.ts: the routes of the management API with what each takes and gives, for the dashboard's
// client. They are made of the same description that the service gives to everybody.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeApi } from '../src/http/api/openapi.ts'
import { routes } from '../src/http/api/routes.ts'

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}
type Content = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
type Operation = {
  readonly parameters?: readonly { readonly name: string; in: string; required: boolean; schema: Schema }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}
type Described = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const described = JSON.parse(JSON.stringify(describeApi(routes))) as Described
const schemas = Object.entries(described.components.schemas).map(([name, schema]) => `  ${name}: ${typeOf(schema)}`)
const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, operation]) => `  '${method.toUpperCase()} ${path}': ${operationType(operation)}`,
  ),
)
const lines = [
  '// Made by scripts/make-api-types.ts.',
  `export interface Schemas {\n${schemas.join('\n')}\n}`,
  `export interface Operations {\n${operations.join('\n')}\n}`,
]
writeFileSync(join(import.meta.dirname, '../web/src/api/types.ts'), `${lines.join('\n\n')}\n`)

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const fields = (place: string) => {
    const own = parameters.filter((parameter) => parameter.in === place)
    return `{ ${own.map(({ name, required, schema }) => `${name}${required ? '' : '?'}: ${typeOf(schema)}`).join('; ')} }`
  }
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const body = bodyOf(requestBody)
  const answer = answers.map(([, response]) => bodyOf(response)).join(' | ')
  return `{ params: ${fields('path')}; query: ${fields('query')}; body: ${body}; answer: ${answer} }`
}

function bodyOf(given: Content | undefined): string {
  const [type] = Object.entries(given?.content ?? {})
  if (type === undefined) return 'null'
  return type[0] === 'application/json' ? typeOf(type[1].schema) : 'string'
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return `Schemas['${schema.$ref.split('/').at(-1) ?? ''}']`
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return choices.map((choice) => `(${typeOf(choice)})`).join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ')
  if (Array.isArray(schema.type)) {
    return schema.type.map((type: string) => typeOf({ ...schema, type })).join(' | ')
  }
  return plainTypeOf(schema)
}

function plainTypeOf({ type, items, properties, required = [], additionalProperties }: Schema): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `readonly (${items === undefined ? 'unknown' : typeOf(items)})[]`
    case 'object': {
      if (properties === undefined) {
        const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'
        return `Readonly<Record<string, ${value}>>`
      }
      const fields = Object.entries(properties).map(([name, field]) => {
        return `readonly ${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`
      })
      return `{ ${fields.join('; ')} }`
    }
    default:
      return 'unknown'
  }
}
