import { readFileSync } from 'node:fs'
import { readConnection } from '../../accounts/single-sign-on/read-connections.ts'
import { SsoFault } from '../../accounts/single-sign-on/fault.ts'
import { listCertificates } from '../../accounts/single-sign-on/saml/certificates.ts'
import { explainAnswer } from '../../accounts/single-sign-on/saml/explain-answer.ts'
import { createSamlConnection, rotateSamlKey } from '../../accounts/single-sign-on/saml/saml-connections.ts'
import type { SsoParts } from '../../accounts/single-sign-on/parts.ts'
import type { ConnectionId, OrganizationId } from '../../core/ids.ts'
import { operator, print, printList } from './with-installation.ts'

type Reference = { readonly id: ConnectionId; readonly organizationId: OrganizationId }
type Given<Values> = { readonly parts: SsoParts; readonly values: Values & { readonly json: boolean } }

type Wanted = {
  readonly saml: string
  readonly name: string | undefined
  readonly 'verifies-emails': boolean
  readonly 'makes-members': boolean
  readonly organizationId: OrganizationId
}

/** Makes a connection of a provider's description, which is at an address or in a file. */
export async function createBySaml({ parts, values }: Given<Wanted>): Promise<void> {
  const { saml, organizationId } = values
  const isAddress = /^https?:\/\//.test(saml)
  const id = await createSamlConnection(parts, operator, {
    organizationId,
    source: isAddress ? { metadataUrl: saml } : { metadata: readFileSync(saml, 'utf8') },
    name: values.name ?? (isAddress ? new URL(saml).hostname : 'SAML'),
    groupsClaim: 'groups',
    makesMembers: values['makes-members'],
    signsOutThere: false,
    defaultRole: 'developer',
    nameIdFormat: 'persistent',
    emailAttribute: null,
    nameAttribute: null,
    verifiesEmails: values['verifies-emails'],
    forcesSignIn: false,
    authnContext: null,
    providerInitiated: 'off',
  })
  const metadataUri = `${parts.sso.siteUrl()}/sso/${id}/metadata`
  print(values.json, { id, metadataUri }, [
    `${id} is made. Nobody signs in by it until it is enabled. The provider reads of it at`,
    '',
    `  ${metadataUri}`,
  ])
}

/** Which certificates of a provider are trusted, since when and until when. */
export async function showCertificates({ parts, values }: Given<object>, reference: Reference): Promise<void> {
  const found = await listCertificates(parts, operator, reference)
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const lines = found.map(({ sha256, notAfterMs, seenAtMs, goneAtMs }) => {
    const state = goneAtMs === null ? 'trusted' : `gone since ${day(goneAtMs)}`
    return `${sha256}  ${state}  seen ${day(seenAtMs)}  until ${day(notAfterMs)}`
  })
  printList(values.json, 'certificates', found, lines)
}

export async function rotateKey({ parts, values }: Given<object>, reference: Reference): Promise<void> {
  const key = await rotateSamlKey(parts, operator, reference)
  const said =
    key === 'published'
      ? 'A new key is published beside the one in use. Once the provider has read that, do this again.'
      : 'The new key is in use, and the old one is forgotten.'
  print(values.json, { ...reference, key }, [said])
}

/** Checks an answer that somebody has captured, and tells which rule it breaks. Ends with 1 where there is one. */
export async function explain(
  { parts, values }: Given<object>,
  { file, ...reference }: Reference & { readonly file: string },
): Promise<void> {
  await readConnection(parts, operator, reference)
  try {
    const steps = await explainAnswer(parts, reference.id, readFileSync(file, 'utf8').trim())
    print(values.json, { isTaken: true, steps }, [...steps, 'The answer would be taken by whoever asked for it.'])
  } catch (error) {
    if (!(error instanceof SsoFault)) throw error
    const detail = error.cause instanceof Error ? error.cause.message : null
    process.exitCode = 1
    print(values.json, { isTaken: false, code: error.code, reason: error.message, detail }, [
      `${error.code}: ${error.message}`,
      ...(detail === null ? [] : [detail]),
    ])
  }
}
