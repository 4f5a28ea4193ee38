import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { keyFor, nameOf, permittedRoutes, requestFor } from './ask-route.ts'
import { createThings, type Things } from './things.ts'
import { createCompany, newMember } from './world.ts'

onEachDatabase((database) => {
  describe('what can be read', () => {
    let service: ManagementService
    let things: Things

    before(async () => {
      service = await openManagementService(await database.open())
      const company = await createCompany(service.accounts)
      const wanted = { company, projectId: company.projectId, ownerId: company.members.developer.memberId }
      for (let round = 0; round < 3; round++) {
        service.clock.advance(1)
        things = await createThings(service.accounts, wanted)
      }
    })
    after(() => service.close())

    const read = async (path: string, key = service.key): Promise<Answer> => {
      const answer = await service.ask({ path, key })
      equal(answer.status, 200, answer.text)
      return answer
    }

    for (const route of permittedRoutes.filter(({ method }) => method === 'GET')) {
      test(nameOf(route), async () => {
        const { path } = await requestFor(service, route, things)
        const isPaged = route.query !== null && Object.hasOwn(route.query.shape, 'after')
        const isOfMany = isPaged && Object.hasOwn(route.query?.shape ?? {}, 'limit')
        const whole = await read(isOfMany ? `${path}?limit=200` : path, keyFor(service, route))
        if (!isPaged) return
        // The audit is checked in parts, but they are no pages of a list.
        if (!Object.hasOwn(whole.body, 'data')) return
        const entries: unknown[] = []
        let rest = ''
        do {
          const { body } = await read(`${path}?limit=1${rest}`)
          const data = body['data'] as unknown[]
          ok(data.length <= 1)
          entries.push(...data)
          rest = body['next'] === null ? '' : `&after=${body['next'] as string}`
        } while (rest !== '')
        deepEqual(entries, whole.body['data'], 'Page by page it is the same.')
      })
    }

    test('a text with the one character that PostgreSQL keeps in none is refused by its field, or is nobody’s id', async () => {
      const within = `/api/v1/organizations/${things.organizationId}`
      for (const [path, field] of [
        [`${within}/search?q=a%00`, 'q'],
        [`${within}/api-keys?q=%00`, 'q'],
        [`${within}/ledger?reason=a%00b`, 'reason'],
        [`${within}/usage?user=%00`, 'user.0'],
        [`${within}/audit?target=%00`, 'target'],
      ]) {
        const { status, text } = await service.ask({ path: path ?? '', key: service.key })
        equal(status, 400, text)
        ok(text.includes(`"path":"${field}"`), text)
      }
      const cursor = Buffer.from(JSON.stringify([1, null, '\0'])).toString('base64url')
      equal((await service.ask({ path: `${within}/refusals?after=${cursor}`, key: service.key })).status, 400)
      equal((await service.ask({ path: `${within}/api-keys/key_%00`, key: service.key })).status, 404)
      const body = { email: 'a\0@b.example', password: 'x' }
      const headers = { origin: 'http://localhost:8080', host: 'localhost:8080' }
      const { status, text } = await service.ask({ method: 'POST', path: '/api/v1/session/password', body, headers })
      equal(status, 400, text)
      ok(text.includes('"path":"email"'), text)
    })

    test('a connection and a playground whose id has a character that PostgreSQL keeps in no text are not there', async () => {
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      for (const [place, [method, way]] of Object.entries([
        ['GET', 'start'],
        ['GET', 'callback?state=x'],
        ['GET', 'metadata'],
        ['GET', 'slo'],
        ['POST', 'slo'],
        ['GET', 'acs'],
        ['POST', 'acs'],
        ['POST', 'backchannel-logout'],
      ] as const)) {
        const answerFor = async (id: string, address: string) => {
          const sent = method === 'POST' ? { headers: form, body: 'logout_token=x' } : {}
          const { status, text } = await service.ask({ method, path: `/sso/${id}/${way}`, address, ...sent })
          return [status, text.replace(/req_\w+/, '')]
        }
        const unknown = await answerFor('conn_x', `192.0.2.${place}`)
        deepEqual(await answerFor('conn_%00', `198.51.100.${place}`), unknown, `${method} ${way}`)
        equal(unknown[0], 400)
      }
      const { organizationId } = things
      const { headers } = await signInPerson(service.accounts, {
        memberId: await newMember(service.accounts, organizationId, 'admin'),
      })
      for (const [organization, project] of [
        [organizationId, 'prj_%00'],
        ['org_%00', things.projectId],
      ]) {
        const path = `/api/v1/organizations/${organization}/projects/${project}/playground/messages`
        const { status, text } = await service.ask({ method: 'POST', path, headers, body: {} })
        equal(status, 404, text)
      }
    })
  })
})
