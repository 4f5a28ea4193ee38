// npm run conformance:identity              identity providers and directories that others have written
// npm run conformance:identity -- PART...   only keycloak, pysaml2, scim or okta
// npm run conformance:identity -- --keycloak http://127.0.0.1:8080   with a Keycloak that runs already (admin, admin)
//
// Not part of npm test: it takes a Java, Maven and a Python, and fetches some 200 MB once.

import { parseArgs } from 'node:util'
import { tryAgents } from '../test/conformance/identity/agents/agent-trials.ts'
import { openInstallation, type Installation } from '../test/conformance/identity/installation.ts'
import { publishKey, tryKeyChange } from '../test/conformance/identity/keycloak/key-change.ts'
import { Keycloak } from '../test/conformance/identity/keycloak/keycloak.ts'
import { tryOidc } from '../test/conformance/identity/keycloak/oidc-trials.ts'
import { trySaml } from '../test/conformance/identity/keycloak/saml-trials.ts'
import {
  fetchClaudeCode,
  fetchKeycloak,
  fetchOktaRequests,
  fetchPython,
  fetchXmlsec,
  findJava,
} from '../test/conformance/identity/programs.ts'
import { tryPysaml2 } from '../test/conformance/identity/pysaml2/pysaml2-trials.ts'
import { tryJudges, tryOkta } from '../test/conformance/identity/scim/scim-trials.ts'
import { Verdicts } from '../test/conformance/identity/verdicts.ts'
import { Missing } from '../test/harness/programs/cache.ts'

type Given = { readonly verdicts: Verdicts; readonly installation: Installation; readonly address: string | undefined }

const parts: Readonly<Record<string, (given: Given) => Promise<void>>> = {
  keycloak: tryKeycloak,
  okta: async ({ verdicts, installation }) => tryOkta(verdicts, installation, await fetchOktaRequests()),
  scim: async ({ verdicts, installation }) => tryJudges(verdicts, installation, await fetchPython()),
  pysaml2: async ({ verdicts, installation }) => {
    const programs = { python: await fetchPython(), xmlsec: await fetchXmlsec() }
    return tryPysaml2(verdicts, installation, programs)
  },
}

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { keycloak: { type: 'string' } },
  })
  const startedMs = performance.now()
  const verdicts = new Verdicts()
  const installation = await openInstallation()
  const wanted = positionals.length === 0 ? Object.keys(parts) : positionals
  const missing: string[] = []
  const tryPart = async (name: string) => {
    try {
      await parts[name]?.({ verdicts, installation, address: values.keycloak })
    } catch (error) {
      if (!(error instanceof Missing)) throw error
      missing.push(error.message)
    }
  }
  const tryInTurn = async (names: readonly string[]) => {
    for (const name of names) await tryPart(name)
  }
  try {
    // Keycloak takes half a minute to start, in which the others are tried.
    await Promise.all([
      tryInTurn(wanted.filter((name) => name === 'keycloak')),
      tryInTurn(wanted.filter((name) => name !== 'keycloak')),
    ])
  } finally {
    await installation.close()
  }
  for (const line of missing) console.log(`– not tried, as it is missing: ${line}`)
  const passed = verdicts.all.length - verdicts.failed
  const seconds = Math.round((performance.now() - startedMs) / 1_000)
  console.log(`${passed} of ${verdicts.all.length} passed in ${seconds} s.`)
  return verdicts.failed === 0 && missing.length === 0 ? 0 : 1
}

async function tryKeycloak({ verdicts, installation, address }: Given): Promise<void> {
  const { keycloak, stop } =
    address === undefined
      ? await Keycloak.start(await fetchKeycloak(), findJava())
      : { keycloak: await Keycloak.at(address), stop: () => Promise.resolve() }
  try {
    const bySaml = await trySaml(verdicts, installation, keycloak)
    // It is published for as long as the trials of the other language take.
    const published = await publishKey(keycloak)
    const byOidc = await tryOidc(verdicts, installation, keycloak)
    await tryAgents(verdicts, keycloak, await fetchClaudeCode())
    await tryKeyChange(verdicts, { keycloak, published, logins: [bySaml, byOidc] })
  } finally {
    await stop()
  }
}
