// The names by which SAML 2.0, XML Signature and XML Encryption call things.

export const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion'
export const protocolNamespace = 'urn:oasis:names:tc:SAML:2.0:protocol'
export const metadataNamespace = 'urn:oasis:names:tc:SAML:2.0:metadata'
export const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#'
export const encryptionNamespace = 'http://www.w3.org/2001/04/xmlenc#'
export const encryption11Namespace = 'http://www.w3.org/2009/xmlenc11#'
export const canonicalization = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const schemaInstanceNamespace = 'http://www.w3.org/2001/XMLSchema-instance'

export const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
export const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
export const rsaSha512 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512'
export const sha1Digest = 'http://www.w3.org/2000/09/xmldsig#sha1'
export const sha256Digest = 'http://www.w3.org/2001/04/xmlenc#sha256'
export const sha512Digest = 'http://www.w3.org/2001/04/xmlenc#sha512'

export const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
export const postBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'

export const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
export const success = 'urn:oasis:names:tc:SAML:2.0:status:Success'
export const entityFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity'

/** How providers name people. A name that is another one at each sign-in is none to know anybody by. */
export const nameIdFormats = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
} as const
export type NameIdFormat = keyof typeof nameIdFormats
