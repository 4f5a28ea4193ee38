// What a drawer that changes something sends: what was changed in it, and nothing of what it only showed.

import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { askApi, baseOf } from '../../harness/ask.ts'
import { memberIdOf, organizationOf } from '../../harness/open-dashboard.ts'
import type { Dashboard } from '../../harness/use-dashboard.ts'

type Key = {
  readonly id: string
  readonly name: string
  readonly expiresAt: string | null
  readonly models: readonly string[] | null
  readonly addresses: readonly string[] | null
}

export function editsSuite(dashboard: () => Dashboard): void {
  const base = () => baseOf(dashboard())
  const ask = async <Body>(method: string, path: string, given?: unknown): Promise<Body> => {
    const { owner } = dashboard()
    const place = `/api/v1/organizations/${organizationOf(owner)}`
    const { status, body } = await askApi(owner.page, method, place + path, given)
    equal(status < 300, true, JSON.stringify(body))
    return body as Body
  }
  const projects = () => ask<{ readonly data: readonly { readonly id: string }[] }>('GET', '/projects')
  const makeKey = async (name: string, expiresAt: string | null) => {
    const [project] = (await projects()).data
    return (await ask<{ readonly apiKey: Key }>('POST', '/api-keys', { name, projectId: project?.id, expiresAt }))
      .apiKey
  }
  const openEdit = async ({ id, name }: Key) => {
    const { page } = dashboard().owner
    await page.goto(`${base()}/keys/${id}`)
    await page.getByRole('button', { name: /^Edit/ }).click()
    const drawer = page.getByRole('dialog', { name: `Edit “${name}”` })
    await drawer.waitFor()
    return drawer
  }

  suite('a drawer that changes a key', () => {
    test('leaves what was set elsewhere while it was open, and saves nothing where nothing was changed', async () => {
      const key = await makeKey('edited', null)
      const drawer = await openEdit(key)
      const save = drawer.getByRole('button', { name: 'Save' })
      equal(await save.getAttribute('aria-disabled'), 'true')
      const rules = { models: ['hal-1.0'], addresses: ['10.0.0.0/8'] }
      await ask('PATCH', `/api-keys/${key.id}`, rules)
      await drawer.getByLabel('Name', { exact: true }).fill('edited by its name')
      await save.click()
      await drawer.waitFor({ state: 'detached' })
      const { name, models, addresses } = await ask<Key>('GET', `/api-keys/${key.id}`)
      deepEqual({ name, models, addresses }, { name: 'edited by its name', ...rules })
    })

    test('keeps the instant at which it ends until another day is chosen', async () => {
      const expiresAt = new Date(Date.now() + 300_000).toISOString()
      const key = await makeKey('ends soon', expiresAt)
      const drawer = await openEdit(key)
      await drawer.getByLabel('Name', { exact: true }).fill('ends as soon')
      await drawer.getByRole('button', { name: 'Save' }).click()
      await drawer.waitFor({ state: 'detached' })
      equal((await ask<Key>('GET', `/api-keys/${key.id}`)).expiresAt, expiresAt)
      const again = await openEdit({ ...key, name: 'ends as soon' })
      await again.getByLabel('Last day before (UTC)').fill('2099-01-01')
      await again.getByRole('button', { name: 'Save' }).click()
      await again.waitFor({ state: 'detached' })
      equal((await ask<Key>('GET', `/api-keys/${key.id}`)).expiresAt, '2099-01-01T00:00:00.000Z')
    })
  })

  suite('a drawer that changes a channel', () => {
    test('leaves what it tells of as that was set elsewhere meanwhile', async () => {
      const { page } = dashboard().owner
      const wanted = { kind: 'log', name: 'Edited log', topics: ['budget.threshold'] }
      const path = '/alert-channels'
      const { id } = (await ask<{ readonly channel: { readonly id: string } }>('POST', path, wanted)).channel
      await page.goto(`${base()}/alerts`)
      await page.getByRole('button', { name: 'Actions for Edited log' }).click()
      await page.getByRole('menuitem', { name: 'Edit…' }).click()
      const drawer = page.getByRole('dialog', { name: 'Edit “Edited log”' })
      await drawer.getByLabel('Name').fill('Renamed log')
      await ask('PATCH', `${path}/${id}`, { topics: ['audit.broken'] })
      await drawer.getByRole('button', { name: 'Save' }).click()
      await drawer.waitFor({ state: 'detached' })
      const { data } = await ask<{ readonly data: readonly (typeof wanted & { readonly id: string })[] }>('GET', path)
      const { name, topics } = data.find((channel) => channel.id === id) ?? {}
      deepEqual({ name, topics }, { name: 'Renamed log', topics: ['audit.broken'] })
      await ask('DELETE', `${path}/${id}`)
    })
  })

  suite('a form of settings', () => {
    test('leaves what was set elsewhere meanwhile', async () => {
      const { page } = dashboard().owner
      await page.goto(`${base()}/settings`)
      const card = page.getByRole('region', { name: 'Keys and limits' })
      await card.getByLabel('Who is asked for higher limits').fill('desk@example.com')
      await ask('PATCH', '/settings', { keyDaysMax: 300 })
      await card.getByRole('button', { name: 'Save rules' }).click()
      await card.getByText('A new key ends within 300 days.').waitFor()
      const { contact } = await ask<{ readonly contact: string }>('GET', '/settings')
      equal(contact, 'desk@example.com')
      await ask('PATCH', '/settings', { keyDaysMax: null, contact: null })
    })
  })

  suite('a drawer that changes a member', () => {
    test('takes no project away that was given elsewhere meanwhile', async () => {
      const { page } = dashboard().owner
      const memberId = await memberIdOf(page)
      const { id: projectId } = await ask<{ readonly id: string }>('POST', '/projects', { name: 'Given meanwhile' })
      await page.goto(`${base()}/members/${memberId}`)
      await page.getByRole('button', { name: 'Change Ann Lee' }).click()
      await page.getByRole('menuitem', { name: 'Role and projects…' }).click()
      const drawer = page.getByRole('dialog', { name: /^Role and projects of / })
      await drawer.waitFor()
      const readAnew = page.waitForResponse(
        (response) => response.url().endsWith(`/members/${memberId}`) && response.request().method() === 'GET',
      )
      await ask('PUT', `/projects/${projectId}/members/${memberId}`)
      await readAnew
      await drawer.getByRole('button', { name: 'Save' }).click()
      await drawer.waitFor({ state: 'detached' })
      const { projectIds } = await ask<{ readonly projectIds: readonly string[] }>('GET', `/members/${memberId}`)
      equal(projectIds.includes(projectId), true)
      await ask('POST', `/projects/${projectId}/archive`)
    })
  })

  suite('a drawer that sets what a place has already', () => {
    const makeProject = (name: string) => ask<{ readonly id: string }>('POST', '/projects', { name })

    test('begins with the limit that is there, says so, and leaves of it what is not typed', async () => {
      const { page } = dashboard().owner
      const { id } = await makeProject('Limited')
      const subject = { kind: 'project', id }
      const there = { outputTokensPerMinute: 2_000, requestsPerMinute: 5, isRequestsEnforced: true, concurrency: null }
      const set = { subject, model: '*', inputTokensPerMinute: 1_000, cachedReadPercent: 30, ...there }
      await ask('PUT', '/limits', set)
      await page.goto(`${base()}/limits`)
      await page.getByRole('row', { name: /^Limited/ }).waitFor()
      await page.getByRole('button', { name: 'Set limit' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Set limit' })
      await drawer.getByLabel('For').selectOption({ label: 'Project: Limited' })
      await drawer.getByText('There is a limit for this already.').waitFor()
      const send = drawer.getByRole('button', { name: 'Set limit' })
      const [input, percent] = [drawer.getByLabel('Input tokens a minute'), drawer.getByLabel(/^Tokens read from/)]
      equal(await input.inputValue(), '1000')
      for (const [field, wrong, right] of [
        [input, '1.5', '1,500'],
        [percent, '', '40'],
        [percent, '101', '40'],
      ] as const) {
        await field.fill(wrong)
        equal(await send.getAttribute('aria-disabled'), 'true', wrong)
        await field.fill(right)
      }
      await send.click()
      await drawer.waitFor({ state: 'detached' })
      const { data } = await ask<{ readonly data: readonly (typeof set)[] }>('GET', '/limits?limit=200')
      const { inputTokensPerMinute, cachedReadPercent, ...rest } = data.find((one) => one.subject.id === id) ?? set
      deepEqual([inputTokensPerMinute, cachedReadPercent], [1_500, 40])
      deepEqual(rest, { ...rest, ...there })
    })

    test('begins with the budget that is there, and with none where another period has none', async () => {
      const { page } = dashboard().owner
      const { id } = await makeProject('Budgeted')
      const set = { subject: { kind: 'project', id }, period: 'week', microsMax: 2_500_000, tokensMax: 7_000 }
      await ask('PUT', '/budgets', { ...set, alertPercents: [75] })
      await page.goto(`${base()}/budgets`)
      await page.getByRole('row', { name: /^Budgeted/ }).waitFor()
      await page.getByRole('button', { name: 'Set budget' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Set budget' })
      await drawer.getByLabel('For').selectOption({ label: 'Project: Budgeted' })
      const there = drawer.getByText('There is a budget for this already.')
      await there.waitFor({ state: 'detached' })
      equal(await drawer.getByLabel('Amount, USD').inputValue(), '')
      await drawer.getByLabel('Period').selectOption('week')
      await there.waitFor()
      equal(await drawer.getByLabel('Amount, USD').inputValue(), '2.5')
      await drawer.getByLabel('Amount, USD').fill('10,000')
      await drawer.getByRole('button', { name: 'Set budget' }).click()
      await drawer.waitFor({ state: 'detached' })
      const path = '/budgets?limit=200'
      const { data } = await ask<{ readonly data: readonly (typeof set & { readonly alertPercents: unknown })[] }>(
        'GET',
        path,
      )
      const { microsMax, tokensMax, alertPercents } = data.find(({ subject }) => subject.id === id) ?? {}
      deepEqual(
        { microsMax, tokensMax, alertPercents },
        { microsMax: 10_000_000_000, tokensMax: 7_000, alertPercents: [75] },
      )
    })

    test('raises both amounts of a budget, and says at a field what is no raise', async () => {
      const { page } = dashboard().owner
      const { id } = await makeProject('Raised')
      const set = { subject: { kind: 'project', id }, period: 'day', microsMax: 2_500_000, tokensMax: 2_000_000 }
      const { id: budgetId } = await ask<{ readonly id: string }>('PUT', '/budgets', set)
      await page.goto(`${base()}/budgets`)
      await page.getByRole('button', { name: 'Actions for the budget of Raised' }).click()
      await page.getByRole('menuitem', { name: 'Raise for a time…' }).click()
      const drawer = page.getByRole('dialog', { name: 'Raise budget' })
      const tokens = drawer.getByLabel('New number of tokens')
      await tokens.fill('5')
      await drawer.getByText('The budget has 2,000,000 tokens already: more than that is needed.').waitFor()
      equal(await tokens.getAttribute('aria-invalid'), 'true')
      await tokens.fill('3,000,000')
      await drawer.getByLabel('New amount, USD').fill('1,000.50')
      await drawer.getByRole('button', { name: 'Raise budget' }).click()
      await drawer.waitFor({ state: 'detached' })
      type Raised = { readonly id: string; readonly raise: { readonly microsMax: number; readonly tokensMax: number } }
      const { data } = await ask<{ readonly data: readonly Raised[] }>('GET', '/budgets?limit=200')
      const { microsMax, tokensMax } = data.find((one) => one.id === budgetId)?.raise ?? {}
      deepEqual({ microsMax, tokensMax }, { microsMax: 1_000_500_000, tokensMax: 3_000_000 })
    })
  })
}
