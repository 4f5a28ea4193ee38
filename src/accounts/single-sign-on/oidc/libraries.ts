/**
 * The libraries of OpenID Connect and of its tokens. They are loaded when somebody first signs in by a provider: an
 * installation whose people have passwords has the memory that they take for its requests.
 */
export async function loadOidcLibraries() {
  const [client, tokens] = await Promise.all([import('openid-client'), import('jose')])
  return { client, tokens }
}
