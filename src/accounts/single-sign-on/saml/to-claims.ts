import type { ConnectionRow } from '../read-connections.ts'
import { SsoFault } from '../fault.ts'
import type { Claims } from '../oidc/exchange-code.ts'
import type { Assertion } from './messages/read-assertion.ts'
import type { SamlRow } from './saml-row.ts'

/** How providers call the e-mail address and the name, where nobody has told them how to. */
const emailNames = [
  'email',
  'mail',
  'emailAddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'urn:oid:1.2.840.113549.1.9.1',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
]
const personNames = [
  'displayName',
  'name',
  'cn',
  'urn:oid:2.16.840.1.113730.3.1.241',
  'http://schemas.microsoft.com/identity/claims/displayname',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name',
]
/** Stands where Microsoft Entra has left out groups because there are too many. */
const groupsElsewhere = 'http://schemas.microsoft.com/claims/groups.link'

/** What an assertion says of a person, in the words that rules for people are written in. */
export function toClaims(
  { nameId, attributes, authentication }: Assertion,
  connection: ConnectionRow,
  saml: SamlRow,
): Claims {
  const groups = attributes.get(connection.groups_claim)
  const email = readEmail(attributes, saml) ?? (saml.name_id_format === 'email' ? nameId.value : undefined)
  return {
    ...(groups !== undefined && { [connection.groups_claim]: groups }),
    ...(attributes.has(groupsElsewhere) && { hasgroups: true }),
    sub: subjectOf(saml.name_id_format, nameId.value),
    email,
    email_verified: saml.verifies_emails === 1,
    name: readOne(attributes, saml.name_attribute === null ? personNames : [saml.name_attribute])[0],
    auth_time: Math.floor(authentication.atMs / 1_000),
    sid: authentication.session ?? undefined,
  }
}

/** A name means a person together with its format. */
export function subjectOf(format: SamlRow['name_id_format'], value: string): string {
  return `${format} ${value}`
}

/** The one address of a person. Of two, one would be looked at and the other used. */
function readEmail(attributes: Assertion['attributes'], { email_attribute }: SamlRow): string | undefined {
  const values = readOne(attributes, email_attribute === null ? emailNames : [email_attribute])
  if (new Set(values.map((value) => value.toLowerCase())).size > 1) throw new SsoFault('saml-attribute')
  return values[0]
}

function readOne(attributes: Assertion['attributes'], names: readonly string[]): readonly string[] {
  return names.flatMap((name) => attributes.get(name) ?? [])
}
