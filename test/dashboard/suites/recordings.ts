// What is said in requests, where an owner has it kept: who is told, what is shown and audited, and its end.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { askApi, baseOf, createKey } from '../harness/ask.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const secret = 'Plovers nest on shingle.'

export function recordingsSuite(dashboard: () => Dashboard): void {
  suite('what is said in requests', () => {
    let key = ''
    const within = () => `/api/v1/organizations/${organizationOf(dashboard().owner)}`
    const card = () => dashboard().owner.page.getByRole('region', { name: 'Prompts and answers' })
    const banner = () => dashboard().owner.page.getByText('What is said in requests is kept in a project')
    const send = async () => {
      const answer = await fetch(`${dashboard().service.address}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'clarke-1.0',
          max_tokens: 8,
          system: 'You know birds.',
          messages: [{ role: 'user', content: secret }],
        }),
      })
      equal(answer.status, 200)
      return answer.headers.get('request-id') ?? ''
    }
    const press = async (name: string, done: () => Promise<void>) => {
      const { page } = dashboard().owner
      await card().getByRole('button', { name }).click()
      const proof = page.getByRole('dialog', { name: 'Show that it is you' })
      const isDone = done()
      await Promise.race([isDone, proof.waitFor()])
      if (await proof.isVisible()) await proof.getByRole('button', { name: 'Use a passkey' }).click()
      await isDone
    }
    const open = (requestId: string) => dashboard().owner.page.goto(`${baseOf(dashboard())}/requests/${requestId}`)
    const content = () => dashboard().owner.page.getByRole('region', { name: 'Content' })
    after(() => dashboard().owner.page.goto(`${baseOf(dashboard())}/members`))

    test('is not kept at first, and the page of a request says so', async () => {
      key = await createKey(dashboard().owner.page, baseOf(dashboard()), 'birds')
      await open(await send())
      await content().getByText('Nothing of what was said is kept.').waitFor()
      equal(await banner().count(), 0)
    })

    test('is kept once an owner asks for it, and every page says so', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/settings`)
      await card().getByText('Prompts and answers are not kept in any project.').waitFor()
      await card().getByLabel('End by itself after').selectOption('3')
      await card().getByLabel('Delete each request after').selectOption('14')
      await press('Keep prompts and answers', () => card().getByRole('button', { name: 'Stop keeping' }).waitFor())
      await banner().waitFor()
      const { body } = await askApi(page, 'GET', `${within()}/audit?action=recordings:update`)
      const [row] = (body as { readonly data: readonly { readonly after: { readonly recording_days: number } }[] }).data
      equal(row?.after.recording_days, 14)
    })

    test('is shown to whoever asks for it, with a row in the audit for each reading', async () => {
      const { page } = dashboard().owner
      const requestId = await send()
      await open(requestId)
      await content().getByRole('button', { name: 'Show what was said' }).waitFor()
      ok(!((await page.locator('main').textContent()) ?? '').includes(secret))
      const readings = async () => {
        const { body } = await askApi(page, 'GET', `${within()}/audit?action=recordings:read`)
        return (body as { readonly data: readonly { readonly target: string }[] }).data.map(({ target }) => target)
      }
      deepEqual(await readings(), [])
      await content().getByRole('button', { name: 'Show what was said' }).click()
      await content().getByText(secret).waitFor()
      match((await content().textContent()) ?? '', /You know birds\..*Answer/s)
      deepEqual(await readings(), [requestId])
    })

    test('is opened in the playground as it was asked, and asked again', async () => {
      const { page } = dashboard().owner
      await content().getByRole('button', { name: 'Open in playground' }).click()
      await page.getByRole('heading', { name: 'Playground' }).waitFor()
      equal(await page.getByLabel('Message', { exact: true }).inputValue(), secret)
      equal(await page.getByLabel('System').inputValue(), 'You know birds.')
      await page.waitForURL(/[?&]max=8(&|$)/)
      ok(!page.url().includes('lover'), page.url())
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByText(/\d+ in.* · \d+ out/).waitFor()
    })

    test('is kept no longer once that is switched off, and what was kept is deleted when it is asked for', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/settings`)
      await press('Stop keeping', () => card().getByText('Prompts and answers are not kept in any project.').waitFor())
      await banner().waitFor({ state: 'detached' })
      const requestId = await send()
      match((await card().textContent()) ?? '', /Kept now2 requests/)
      await card().getByRole('button', { name: 'Delete what is kept…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
      await card().getByText('nothing', { exact: true }).waitFor()
      await open(requestId)
      await content().getByText('Nothing of what was said is kept.').waitFor()
    })
  })
}
