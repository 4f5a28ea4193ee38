// The attributes of users and groups (RFC 7643): what reading, filtering and patching go by, and what is told of them.

export type Attribute = {
  readonly name: string
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'binary'
  readonly isMany: boolean
  readonly isRequired: boolean
  readonly isCaseExact: boolean
  readonly mutability: 'readWrite' | 'readOnly' | 'immutable'
  readonly uniqueness: 'none' | 'server'
  readonly description: string
  readonly referenceTypes: readonly string[]
  /** The values that there are; none where any is taken. */
  readonly known: readonly string[]
  readonly parts: readonly Attribute[]
}

type Given = Partial<Omit<Attribute, 'name' | 'description'>>

function attribute(name: string, description: string, given: Given = {}): Attribute {
  return {
    name,
    description,
    type: 'string',
    isMany: false,
    isRequired: false,
    isCaseExact: false,
    mutability: 'readWrite',
    uniqueness: 'none',
    referenceTypes: [],
    known: [],
    parts: [],
    ...given,
  }
}

/** Several values, each with what it is for; one of them may be the primary one. */
function values(name: string, description: string, value: Given = {}, given: Given = {}): Attribute {
  const parts = [
    attribute('value', 'The value.', value),
    attribute('display', 'How it is shown.'),
    attribute('type', 'What it is for.'),
    attribute('primary', 'Whether it is the one to go by.', { type: 'boolean' }),
  ]
  return attribute(name, description, { type: 'complex', isMany: true, parts, ...given })
}

const readOnly = { mutability: 'readOnly' } as const
const link = (...referenceTypes: string[]) => ({ type: 'reference', isCaseExact: true, referenceTypes }) as const

const userAttributes: readonly Attribute[] = [
  attribute('userName', 'The name by which the directory knows the person; capitals do not count.', {
    isRequired: true,
    uniqueness: 'server',
  }),
  attribute('name', 'The parts of the person’s name.', {
    type: 'complex',
    parts: [
      attribute('formatted', 'The whole name.'),
      attribute('familyName', 'The family name.'),
      attribute('givenName', 'The given name.'),
      attribute('middleName', 'The middle name.'),
      attribute('honorificPrefix', 'What stands before the name.'),
      attribute('honorificSuffix', 'What stands behind the name.'),
    ],
  }),
  attribute('displayName', 'The name that is shown.'),
  attribute('nickName', 'What the person is called.'),
  attribute('profileUrl', 'A page about the person.', link('external')),
  attribute('title', 'The person’s title.'),
  attribute('userType', 'How the person belongs to the organization.'),
  attribute('preferredLanguage', 'The language that the person reads.'),
  attribute('locale', 'Where the person is.'),
  attribute('timezone', 'The person’s time zone.'),
  attribute(
    'active',
    'Whether the person is let in; true where nothing is said of it at first. What is cut when it becomes false comes back when it becomes true.',
    { type: 'boolean', isRequired: true },
  ),
  values(
    'emails',
    'Addresses; one is needed where userName is none. Roles and sign-in go by none of them.',
    { isRequired: true },
    {
      isRequired: true,
    },
  ),
  values('phoneNumbers', 'Telephone numbers.'),
  values('ims', 'Addresses for messages.'),
  values('photos', 'Pictures.', link('external')),
  attribute('addresses', 'Postal addresses.', {
    type: 'complex',
    isMany: true,
    parts: [
      attribute('formatted', 'The whole address.'),
      attribute('streetAddress', 'Street and number.'),
      attribute('locality', 'The town.'),
      attribute('region', 'The state or region.'),
      attribute('postalCode', 'The postal code.'),
      attribute('country', 'The country.'),
      attribute('type', 'What it is for.'),
      attribute('primary', 'Whether it is the one to go by.', { type: 'boolean' }),
    ],
  }),
  attribute('groups', 'The groups that the person is in. They are changed at the groups.', {
    type: 'complex',
    isMany: true,
    ...readOnly,
    parts: [
      attribute('value', 'The group’s id.', readOnly),
      attribute('$ref', 'The group’s address.', { ...link('Group'), ...readOnly }),
      attribute('display', 'The group’s name.', readOnly),
      attribute('type', 'How the person is in it.', readOnly),
    ],
  }),
  values('entitlements', 'Kept, and without effect.'),
  values('roles', 'Kept, and without effect: roles come from the mappings of groups.'),
  values('x509Certificates', 'Kept, and without effect.', { type: 'binary', isCaseExact: true }),
]

const enterpriseAttributes: readonly Attribute[] = [
  attribute('employeeNumber', 'The person’s number.'),
  attribute('costCenter', 'Who pays for the person.'),
  attribute('organization', 'The organization.'),
  attribute('division', 'The division.'),
  attribute('department', 'The department.'),
  attribute('manager', 'Whom the person reports to.', {
    type: 'complex',
    parts: [
      attribute('value', 'The manager’s id.'),
      attribute('$ref', 'The manager’s address.', link('User')),
      attribute('displayName', 'The manager’s name.', readOnly),
    ],
  }),
]

const groupAttributes: readonly Attribute[] = [
  attribute('displayName', 'The group’s name, by which it is mapped to a role.', {
    isRequired: true,
    uniqueness: 'server',
  }),
  attribute('members', 'The users who are in the group. Groups are in no groups.', {
    type: 'complex',
    isMany: true,
    parts: [
      attribute('value', 'The user’s id.', { mutability: 'immutable' }),
      attribute('$ref', 'The user’s address.', { ...link('User'), mutability: 'immutable' }),
      attribute('type', 'Always User.', { mutability: 'immutable', known: ['User'] }),
    ],
  }),
]

/** What every resource has; it is part of no schema. */
const common: readonly Attribute[] = [
  attribute('schemas', 'The schemas.', { isMany: true, ...link('uri'), ...readOnly }),
  attribute('id', 'Our own name for it.', { isCaseExact: true, ...readOnly }),
  attribute('externalId', 'The directory’s own name for it.', { isCaseExact: true }),
  attribute('meta', 'What is known of it.', {
    type: 'complex',
    ...readOnly,
    parts: ['resourceType', 'created', 'lastModified', 'location', 'version'].map((name) =>
      attribute(name, '', { isCaseExact: true, ...readOnly }),
    ),
  }),
]

export type Schema = {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly attributes: readonly Attribute[]
}

export type ResourceType = {
  readonly name: 'User' | 'Group'
  readonly endpoint: '/Users' | '/Groups'
  readonly schema: Schema
  readonly extensions: readonly Schema[]
  /** Those of the schema and the common ones. */
  readonly attributes: readonly Attribute[]
}

const user: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'A member of the organization',
  attributes: userAttributes,
}
const enterpriseUser: Schema = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  name: 'EnterpriseUser',
  description: 'What companies know of their people',
  attributes: enterpriseAttributes,
}
const group: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'A group of the directory',
  attributes: groupAttributes,
}

export const users: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  schema: user,
  extensions: [enterpriseUser],
  attributes: [...common, ...userAttributes],
}
export const groups: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  schema: group,
  extensions: [],
  attributes: [...common, ...groupAttributes],
}

export const schemas: readonly Schema[] = [user, enterpriseUser, group]
export const resourceTypes: readonly ResourceType[] = [users, groups]

/** Names of attributes and schemas are the same in capitals and in small letters. */
export function findAttribute(attributes: readonly Attribute[], name: string): Attribute | null {
  const key = name.toLowerCase()
  return attributes.find((one) => one.name.toLowerCase() === key) ?? null
}

export function findExtension({ extensions }: ResourceType, urn: string): Schema | null {
  const key = urn.toLowerCase()
  return extensions.find(({ id }) => id.toLowerCase() === key) ?? null
}

/** A schema as it is told (RFC 7643, section 7). */
export function describeAttribute(told: Attribute): Record<string, unknown> {
  const { name, type, description, mutability, uniqueness, parts, referenceTypes, known } = told
  return {
    name,
    type,
    multiValued: told.isMany,
    description,
    required: told.isRequired,
    caseExact: told.isCaseExact,
    mutability,
    returned: 'default',
    uniqueness,
    ...(referenceTypes.length > 0 && { referenceTypes }),
    ...(known.length > 0 && { canonicalValues: known }),
    ...(parts.length > 0 && { subAttributes: parts.map(describeAttribute) }),
  }
}
