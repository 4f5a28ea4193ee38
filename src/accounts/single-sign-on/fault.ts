/**
 * Why somebody was not signed in, in words for the administrators of a connection. The browser is told none of it.
 */
export const faultWords = {
  'no-flow': 'The answer belongs to no sign-in that was begun in this browser, or to one that was used or is over.',
  'answer-invalid': 'The provider’s answer is not one that was asked for.',
  'provider-refused': 'The provider said that it did not sign the person in.',
  'provider-unreachable': 'The provider, its description or its keys could not be read, or are somewhere not allowed.',
  'code-refused': 'The provider did not exchange the code. Check the client id and the client secret.',
  'token-invalid': 'The ID token is missing or malformed, or is signed in a way that is not agreed.',
  'signature-invalid': 'The signature of the ID token is not by a key of the provider.',
  'claims-invalid': 'A claim of the ID token is missing or is not what was asked for.',
  'token-time': 'The ID token is expired, not valid yet, or was made too long ago. Check the clocks.',
  'subject-invalid': 'The provider’s name for the person is empty or longer than 255 characters.',
  'tenant-foreign': 'The person belongs to another tenant than the connection is for.',
  'not-known': 'Nobody here is meant by this identity, and the connection makes no members.',
  'email-missing': 'The provider names no e-mail address, so the person can be nobody who is known here.',
  'email-unverified': 'The provider does not say that it has verified the e-mail address.',
  'domain-unverified': 'The e-mail address is of a domain that the organization has not shown to be its own.',
  'email-taken':
    'Somebody of another organization signs in with this e-mail address. An invitation joins the two; or whoever accepts it as somebody new has the address from then on.',
  'link-first': 'The member has a way of signing in: they sign in that way and link this identity under Account.',
  'owner-links-first': 'An owner is never recognised by an e-mail address: they sign in and link this identity.',
  'above-answerer':
    'The member may do more than whoever connected the provider, or changed it last. Somebody who may give that role switches the connection on anew; or they sign in in another way and link this identity.',
  'member-suspended': 'The member is suspended.',
  'member-removed': 'The member was removed. An invitation brings them back.',
  'identity-taken': 'This identity is somebody else’s already.',
  'saml-xml': 'The message is no XML of the kind that SAML needs, or has something in it that hides or grows.',
  'saml-shape': 'The message is no SAML 2.0 message, or has something in it that is not taken.',
  'saml-unsigned': 'Neither the response nor the assertion is signed.',
  'saml-signature': 'The signature is by no certificate of the provider, or something was changed after it was signed.',
  'saml-algorithm': 'The message is signed or encrypted in a way that is not safe. Use SHA-256, and GCM with RSA-OAEP.',
  'saml-decryption':
    'The assertion cannot be decrypted with a key of this service. Give the provider its metadata anew.',
  'saml-name-id': 'The name of the person is missing, of another format than agreed, or of another service.',
  'saml-attribute': 'An attribute is there twice, has several values where one is meant, or is none.',
  'saml-issuer': 'The message is of another provider than the connection’s.',
  'saml-addressee':
    'The message is meant for another service or another address. Check the entity id and the ACS address.',
  'saml-confirmation': 'The assertion is not one that whoever bears it may use.',
  'saml-context': 'The provider has signed the person in in another way than is demanded.',
  'saml-time': 'The message is expired, not valid yet, made too long ago or good for too long. Check the clocks.',
  'saml-request': 'The response and the assertion name different requests.',
  'saml-unsolicited': 'Nobody has asked for this message, and the connection takes none that the provider begins.',
  'saml-replay': 'This message was used before.',
  'connection-off': 'The connection is not switched on.',
} as const

export type FaultCode = keyof typeof faultWords

/** A sign-in by a connection that is refused. */
export class SsoFault extends Error {
  override readonly name = 'SsoFault'
  readonly code: FaultCode

  constructor(code: FaultCode, options?: { readonly cause?: unknown }) {
    super(faultWords[code], options)
    this.code = code
  }
}
