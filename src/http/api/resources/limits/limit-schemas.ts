import { z } from 'zod'
import type { Field, Fields, ValuesOf } from '../../../../core/limit-fields.ts'
import { apiKeyId, organizationId, projectId } from '../../schemas.ts'

/** Whose limit or budget something is. */
export const subject = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('organization'), id: organizationId }),
    z.strictObject({ kind: z.literal('project'), id: projectId }),
    z.strictObject({ kind: z.literal('api-key'), id: apiKeyId }),
  ])
  .meta({ id: 'Subject' })

type Shown<All extends Fields> = { readonly [Name in keyof All]: z.ZodType<ValuesOf<All>[Name]> }
type Given<All extends Fields> = { readonly [Name in keyof All]: z.ZodOptional<Shown<All>[Name]> }

/** The fields of a limit or a budget in an answer. */
export function shownFields<All extends Fields>(fields: All): Shown<All> {
  return mapFields(fields, toSchema) as Shown<All>
}

/** The same in a body, where each of them may be left out. */
export function givenFields<All extends Fields>(fields: All): Given<All> {
  return mapFields(fields, (field) => toSchema(field).optional()) as Given<All>
}

function mapFields(fields: Fields, map: (field: Field) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, map(field)]))
}

function toSchema(field: Field): z.ZodType {
  if (field.type === 'switch') return z.boolean().describe(field.about)
  const number = z.int().min(field.min).max(field.max)
  if (field.type === 'list') return z.array(number).max(field.most).describe(field.about)
  const { absent, about } = field
  return (absent === null ? number.nullable() : number).describe(about)
}
