// Coding agents: their people allow them and turn them away by a code, and administrators set what reaches them.

import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { askApi, baseOf } from '../harness/ask.ts'
import { memberIdOf, openDashboard } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const phone = { width: 390, height: 844 }

type Begun = { readonly device_code: string; readonly user_code: string; readonly verification_uri_complete: string }
type Given = { readonly access_token?: string; readonly error?: string }

export function agentsSuite(dashboard: () => Dashboard): void {
  suite('a coding agent', () => {
    let base = ''
    before(() => {
      base = baseOf(dashboard())
    })
    // The page of an organization, as before.
    after(() => dashboard().owner.page.goto(`${base}/members`))
    let begun: Begun
    let token = ''
    const post = async (path: string, fields: Record<string, string>): Promise<unknown> => {
      const headers = { 'user-agent': 'claude-code/2.1.330' }
      const body = new URLSearchParams(fields)
      const answer = await fetch(dashboard().service.address + path, { method: 'POST', headers, body })
      return answer.json()
    }
    const begin = async () => {
      begun = (await post('/oauth/device_authorization', { surface: 'claude_code' })) as Begun
    }
    const exchange = () =>
      post('/oauth/token', { grant_type: deviceGrant, device_code: begun.device_code }) as Promise<Given>
    const ask = async (path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      return fetch(dashboard().service.address + path, { headers, ...sent })
    }
    const question = { model: 'clarke-1.0', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }

    test('with a code that nobody was shown is not found', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/device`)
      await page.getByLabel('Code', { exact: true }).fill('BBBB-BBBB')
      await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByText('There is no such thing').waitFor()
      equal(await page.getByRole('button', { name: 'Allow' }).count(), 0)
    })

    test('is shown with its name, address and code, and gets nothing when it is turned away', async () => {
      const { page, origin } = dashboard().owner
      await begin()
      await page.goto(`${origin}/device`)
      await page.getByLabel('Code', { exact: true }).fill(begun.user_code.toLowerCase())
      await page.getByRole('button', { name: 'Go on' }).click()
      const asked = page.getByRole('region', { name: 'Is this yours?' })
      match(
        (await asked.textContent()) ?? '',
        new RegExp(`${begun.user_code}.*claude-code/2\\.1\\.330.*127\\.0\\.0\\.1`),
      )
      await page.getByRole('button', { name: 'Turn it away' }).click()
      await page.getByRole('heading', { name: 'The agent was turned away' }).waitFor()
      deepEqual(await exchange(), { error: 'access_denied' })
    })

    test('that its person allows asks models without a key, and stands under their account', async () => {
      const { page, origin } = dashboard().owner
      await begin()
      const { pathname, search } = new URL(begun.verification_uri_complete)
      await page.goto(origin + pathname + search)
      await page.getByRole('button', { name: 'Go on' }).click()
      deepEqual(await exchange(), { error: 'authorization_pending' })
      await page.getByLabel('Its requests count in').waitFor()
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByRole('heading', { name: 'The agent is signed in' }).waitFor()
      token = (await exchange()).access_token ?? ''
      equal((await ask('/v1/messages', question)).status, 200)
      await page.goto(`${origin}/account`)
      await page.getByRole('row', { name: /^claude-code\/2\.1\.330 127\.0\.0\.1/ }).waitFor()
    })

    suite('has settings that', () => {
      const within = () => `/api/v1/organizations/${base.split('/').at(-1)}`
      const form = () => dashboard().owner.page.getByRole('region', { name: 'Coding agents' })
      const settings = async () => {
        const told = (await (await ask('/managed/settings')).json()) as { readonly settings: Record<string, unknown> }
        return told.settings
      }
      const save = async () => {
        await form().getByRole('button', { name: 'Save for agents' }).click()
        const proof = dashboard().owner.page.getByRole('dialog', { name: 'Show that it is you' })
        const saved = form().getByText('Saved.')
        await proof.or(saved).first().waitFor()
        if (await proof.isVisible()) await proof.getByRole('button', { name: 'Use a passkey' }).click()
        await saved.waitFor()
      }
      before(async () => {
        const { page } = dashboard().owner
        await page.goto(`${base}/settings`)
        await page.setViewportSize(phone)
      })
      after(() => dashboard().owner.page.setViewportSize({ width: 1_280, height: 800 }))

      test('are not saved while they cannot be read', async () => {
        const text = form().getByLabel('Settings, as JSON')
        for (const [typed, said] of [
          ['{ "permissions": ', /This is no JSON/],
          ['["WebFetch"]', /Settings are an object/],
        ] as const) {
          await text.fill(typed)
          await form().getByText(said).waitFor()
          const button = form().getByRole('button', { name: 'Save for agents' })
          equal(await button.getAttribute('aria-disabled'), 'true')
        }
      })

      test('hold for the whole organization and, above them, for a project, on a phone too', async () => {
        const { page } = dashboard().owner
        const text = form().getByLabel('Settings, as JSON')
        await text.fill('{ "permissions": { "deny": ["WebFetch"] }, "env": { "ONE": "1", "TWO": "2" } }')
        await save()
        deepEqual((await settings())['permissions'], { deny: ['WebFetch'] })
        const place = form().getByLabel('Where they count')
        await place.selectOption({ index: 1 })
        equal(await text.inputValue(), '')
        await text.fill('{ "env": { "TWO": "3" } }')
        await save()
        const { ONE, TWO } = (await settings())['env'] as Record<string, string>
        deepEqual({ ONE, TWO }, { ONE: '1', TWO: '3' })
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        equal(wide, 0, 'The page is wider than a phone.')
      })

      test('are taken away by an empty text, and each change stands in the audit', async () => {
        await form().getByLabel('Settings, as JSON').fill('')
        await save()
        deepEqual(((await settings())['env'] as Record<string, string>)['TWO'], '2')
        const { body } = await askApi(dashboard().owner.page, 'GET', `${within()}/audit?action=settings:agents`)
        equal((body as { readonly data: readonly unknown[] }).data.length, 3)
      })

      test('are read and not changed by an auditor, and not shown to developers', async () => {
        const { browser, service, owner } = dashboard()
        for (const role of ['auditor', 'developer'] as const) {
          const wanted = { email: `${role}@agents.example`, role }
          const invited = await askApi(owner.page, 'POST', `${within()}/invitations`, wanted)
          const other = await openDashboard(browser, service, { viewport: phone })
          await other.page.goto((invited.body as { readonly link: string }).link)
          await other.page.getByLabel('Your name').fill(role)
          await other.page.getByRole('button', { name: 'Create passkey and join' }).click()
          await other.page.getByRole('heading', { name: 'Home' }).waitFor()
          await other.page.goto(`${base}/settings`)
          const card = other.page.getByRole('region', { name: 'Coding agents' })
          if (role === 'auditor') {
            await card.getByLabel('Settings, as JSON').fill('{}')
            const button = card.getByRole('button', { name: 'Save for agents' })
            match((await button.getAttribute('title')) ?? '', /settings:update/)
          } else {
            await other.page.getByRole('heading', { level: 1 }).waitFor()
            equal(await card.count(), 0)
          }
          const entries = { data: [{ projectId: null, settings: {} }] }
          equal((await askApi(other.page, 'PUT', `${within()}/agent-settings`, entries)).status, 403)
          await other.context.close()
        }
      })
    })

    test('is named with the sessions that end with it, before somebody ends all others', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/account`)
      await page.getByRole('button', { name: 'End all others…' }).click()
      const asked = page.getByRole('dialog', { name: 'End all other sessions' })
      await asked.getByText('No session is ended and 1 coding agent is signed out.').waitFor()
      await asked.getByRole('button', { name: 'Cancel' }).click()
      const memberId = await memberIdOf(page)
      await page.goto(`${base}/members/${memberId}`)
      await page.getByRole('button', { name: 'End all…' }).click()
      const all = page.getByRole('dialog', { name: 'End all sessions of Ann Lee' })
      await all.getByText('1 session is ended and 1 coding agent is signed out.').waitFor()
      await all.getByRole('button', { name: 'Cancel' }).click()
      await all.waitFor({ state: 'detached' })
    })

    test('that its person signs out is refused with its next request', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/account`)
      const row = page.getByRole('row', { name: /^claude-code\/2\.1\.330/ })
      await row.getByRole('button', { name: 'Sign out' }).click()
      await row.waitFor({ state: 'detached' })
      equal((await ask('/v1/messages', question)).status, 401)
    })
  })
}
