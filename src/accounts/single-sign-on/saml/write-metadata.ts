import type { ConnectionId } from '../../../core/ids.ts'
import type { CertifiedKey } from './certified-key.ts'
import { escapeXml } from '../../../lib/xml/write-xml.ts'
import type { SsoParts } from '../parts.ts'
import { samlAddresses, type SamlAddresses } from './addresses.ts'
import { readKeys } from './keys.ts'
import { findSaml } from './saml-row.ts'
import { findConnectionRow } from './saml-sign-in.ts'
import {
  encryption11Namespace,
  encryptionNamespace,
  metadataNamespace,
  nameIdFormats,
  postBinding,
  protocolNamespace,
  redirectBinding,
  signatureNamespace,
  type NameIdFormat,
} from './messages/names.ts'

type Described = SamlAddresses & { readonly keys: readonly CertifiedKey[]; readonly nameIdFormat: NameIdFormat }

/** What a provider has to know of this service for a connection, as it can read it by itself. */
function writeMetadata({ entityId, acsUrl, sloUrl, keys, nameIdFormat }: Described): string {
  const descriptors = ['signing', 'encryption'].flatMap((use) => keys.map((key) => describeKey(key, use)))
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n` +
    `<md:EntityDescriptor xmlns:md="${metadataNamespace}" entityID="${escapeXml(entityId)}">` +
    `<md:SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true"` +
    ` protocolSupportEnumeration="${protocolNamespace}">${descriptors.join('')}` +
    `<md:SingleLogoutService Binding="${redirectBinding}" Location="${escapeXml(sloUrl)}"/>` +
    `<md:SingleLogoutService Binding="${postBinding}" Location="${escapeXml(sloUrl)}"/>` +
    `<md:NameIDFormat>${nameIdFormats[nameIdFormat]}</md:NameIDFormat>` +
    `<md:AssertionConsumerService Binding="${postBinding}" Location="${escapeXml(acsUrl)}" index="0" isDefault="true"/>` +
    `</md:SPSSODescriptor></md:EntityDescriptor>\n`
  )
}

function describeKey({ certificate }: CertifiedKey, use: string): string {
  const methods = [`${encryption11Namespace}aes256-gcm`, `${encryption11Namespace}aes128-gcm`]
  const all = use === 'encryption' ? [...methods, `${encryptionNamespace}rsa-oaep-mgf1p`] : []
  return (
    `<md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="${signatureNamespace}"><ds:X509Data>` +
    `<ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>` +
    `${all.map((method) => `<md:EncryptionMethod Algorithm="${method}"/>`).join('')}</md:KeyDescriptor>`
  )
}

/** This service’s own description for a connection; there is nothing secret in it. */
export async function describeToProvider(parts: SsoParts, id: ConnectionId): Promise<string> {
  const connection = await findConnectionRow(parts, id)
  const { name_id_format: nameIdFormat } = await findSaml(parts.db, id)
  return writeMetadata({ ...samlAddresses(parts, id), keys: readKeys(parts, connection), nameIdFormat })
}
