// What nobody but its owner may read stands in no column as it is, and so in no backup, in no row of the audit, in no
// line of the log and on no page of an error.

import { equal, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { createDirectory } from '../../src/accounts/directory/directories.ts'
import { createInvitation } from '../../src/accounts/sign-in/invitations.ts'
import { readKeys } from '../../src/accounts/single-sign-on/saml/keys.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { testSignIn } from '../harness/management.ts'
import { signInPerson } from '../harness/sign-in.ts'
import { attemptsOf, openSaml, type Saml } from './saml/open-saml.ts'
import { attribute } from './saml/saml-provider.ts'
import { find } from './saml/xml-tree.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  let saml: Saml
  const lines: string[] = []
  before(async () => {
    saml = await openSaml(
      await database.open(),
      undefined,
      pino({ level: 'trace' }, { write: (line) => void lines.push(line) }),
    )
  })
  after(() => saml.close())

  test('keys, seeds, links, tokens and what assertions say are nowhere as they are', async () => {
    const { service, company } = saml
    const { organizationId } = company
    const parts = { ...service.accounts, signIn: testSignIn }
    const secrets = new Map<string, string>()
    const pages: string[] = []

    const body = { name: 'C', issuer: 'https://idp.example.com', clientId: 'c', clientSecret: 'canary-of-a-client' }
    const path = `/api/v1/organizations/${organizationId}/connections`
    equal((await service.ask({ method: 'POST', path, key: service.key, body })).status, 201)
    secrets.set('client secret', body.clientSecret)

    const id = await saml.connect()
    const row = await service.db.selectFrom('connections').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const [{ privateKey }] = readKeys(parts, row)
    secrets.set('key of the service', privateKey.split('\n')[1] ?? '')

    const canary = attribute('notes', 'canary-in-an-assertion')
    const asserted = {
      assertion: (tree: Parameters<typeof find>[0]) => void find(tree, 'AttributeStatement').children.push(canary),
    }
    const person = saml.person()
    equal((await saml.answer(await saml.begin(id), person, asserted)).status, 303)
    const refused = await saml.answer(await saml.begin(id), person, {
      ...asserted,
      text: (text) => text.replace('canary-in', 'changed-in canary-in'),
    })
    pages.push(refused.text)
    equal(refused.status, 400)
    ok((await attemptsOf(saml, id)).some(({ outcome }) => outcome === 'refused'))
    secrets.set('assertion', 'canary-in-an-assertion')

    const { headers } = await signInPerson(service.accounts, { memberId: company.members.admin.memberId })
    const own = (method: 'PUT' | 'POST', where: string, given?: unknown) =>
      service.ask({ method, path: `/api/v1/me/${where}`, headers, ...(given !== undefined && { body: given }) })
    await own('PUT', 'password', { password: 'correct horse battery staple canary' })
    secrets.set('password', 'battery staple canary')
    const totp = await own('POST', 'totp')
    equal(totp.status, 200, totp.text)
    secrets.set('seed of an app', String(totp.body['secret']))

    const wanted = { organizationId, email: 'new@acme.example', role: 'auditor', projectIds: [] } as const
    secrets.set('link of an invitation', (await createInvitation(parts, operator, wanted)).token)
    const directory = { organizationId, name: 'D', defaultRole: 'developer' } as const
    secrets.set('token of a directory', (await createDirectory(service.accounts, operator, directory)).token)
    pages.push((await service.ask({ path: '/scim/v2/Users', key: `${secrets.get('token of a directory')}x` })).text)

    const everything = { database: await dump(), log: lines.join('\n'), pages: pages.join('\n') }
    ok(everything.log.includes('sign-in by a connection refused'), 'The log has something to look through.')
    for (const [name, secret] of secrets) {
      ok(secret.length >= 16, name)
      for (const [place, text] of Object.entries(everything)) equal(text.includes(secret), false, `${name}, ${place}`)
    }
  })

  /** Every column of every table, which is what a backup has. */
  async function dump(): Promise<string> {
    const { db } = saml.service
    const tables = await db.introspection.getTables()
    const rows = await Promise.all(tables.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(db)))
    return JSON.stringify(rows.map((one) => one.rows))
  }
})
