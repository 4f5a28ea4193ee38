// The playground: by the session alone, in both wire formats, one model or two, with tools and with a schema.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { baseOf } from '../harness/ask.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const figures = /\d+ in.* · \d+ out/

export function playgroundSuite(dashboard: () => Dashboard): void {
  suite('the playground', () => {
    for (const format of ['Messages', 'Chat completions']) {
      test(`streams an answer of ${format} without any key in the browser, and leads to the request`, async () => {
        const { page } = dashboard().owner
        const sent: string[] = []
        const note = (request: { allHeaders(): Promise<Record<string, string>>; postData(): string | null }) =>
          void request.allHeaders().then((headers) => sent.push(JSON.stringify(headers) + (request.postData() ?? '')))
        page.on('request', note)
        await page.goto(`${baseOf(dashboard())}/playground`)
        await page.getByRole('button', { name: format }).click()
        await page.getByLabel('Message', { exact: true }).fill('Say something.')
        await page.getByText(/\d+ tokens in/).waitFor()
        await page.getByRole('button', { name: 'Run' }).click()
        await page.getByText(figures).waitFor()
        await page.getByRole('link', { name: 'Open request' }).click()
        await page.getByText('Where the time went').waitFor()
        await page.getByText('Playground · Ann Lee').first().waitFor()
        page.off('request', note)
        ok(sent.length > 0)
        equal(sent.filter((one) => one.includes('sk-ody-')).length, 0)
      })
    }

    test('says that the service does not answer as the other pages do', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/playground`)
      const asked = /\/playground\/messages$/
      await page.route(asked, (route) => route.abort('connectionrefused'))
      await page.getByLabel('Message', { exact: true }).fill('Say something.')
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByRole('main').getByText('Odyssey does not answer.').waitFor()
      await page.unroute(asked)
    })

    test('asks two models the same, and sets their figures side by side', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/playground?compare=1&other=tycho-1.0&max=16`)
      await page.getByLabel('Message', { exact: true }).fill('Say something.')
      await page.getByRole('button', { name: 'Run both' }).click()
      const table = page.getByRole('table', { name: 'Both answers, the better figure marked' })
      await table.getByRole('row', { name: /^First token/ }).waitFor()
      const heads = await table.getByRole('columnheader').allTextContents()
      deepEqual(heads, ['Measure', 'clarke-1.0', 'tycho-1.0'])
      equal(new URL(page.url()).search, '?compare=1&other=tycho-1.0&max=16')
    })

    test('sends what is set less often in the words of the format, and names what the other cannot say', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/playground?topP=0.9&topK=40&stops=END&cache=1h&max=8`)
      await page.getByLabel('Message', { exact: true }).fill('Say something.')
      const run = async () => {
        await page.getByRole('button', { name: 'Run' }).click()
        await page.getByText(figures).waitFor()
        await page.getByRole('group', { name: 'View of Answer' }).getByRole('button', { name: 'Request' }).click()
        return (await page.getByRole('region', { name: 'Request, as sent' }).textContent()) ?? ''
      }
      const sent = JSON.parse(await run()) as Readonly<Record<string, unknown>>
      deepEqual([sent['top_p'], sent['top_k'], sent['stop_sequences']], [0.9, 40, ['END']])
      deepEqual(sent['cache_control'], { type: 'ephemeral', ttl: '1h' })
      await page.getByRole('button', { name: 'Chat completions' }).click()
      await page.getByText('More', { exact: true }).click()
      await page.getByText('This format cannot say: Top K, The cache mark.').waitFor()
      await page.getByLabel('Top P').fill('7')
      await page.getByText('Top P is a number from 0 to 1, or empty.').waitFor()
    })

    test('shows its request as each client says it, with the address of this service and no key', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/playground`)
      await page.getByLabel('Message', { exact: true }).fill('It’s "quoted".')
      await page.getByRole('button', { name: 'Code' }).click()
      const dialog = page.getByRole('dialog', { name: 'Code' })
      const clients = await dialog.getByLabel('Client').locator('option').allTextContents()
      deepEqual(clients, [
        'curl',
        'OpenAI SDK, TypeScript',
        'OpenAI SDK, Python',
        'Anthropic SDK, TypeScript',
        'Anthropic SDK, Python',
        'Vercel AI SDK',
        'LangChain',
        'Claude Code',
      ])
      for (const client of clients) {
        await dialog.getByLabel('Client').selectOption(client)
        const text = (await dialog.textContent()) ?? ''
        ok(text.includes(origin), client)
        match(text, /ODYSSEY_KEY/, client)
        equal(text.includes('sk-ody-'), false, client)
      }
      await page.keyboard.press('Escape')
    })

    test('is closed to keys, and /v1 is closed to the session', async () => {
      const { owner, service } = dashboard()
      const body = JSON.stringify({
        model: 'clarke-1.0',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'Hello' }],
      })
      const statusOf = (path: string) =>
        owner.page.evaluate(
          async ([address, text]) =>
            (await fetch(address, { method: 'POST', body: text, headers: { 'content-type': 'application/json' } }))
              .status,
          [path, body] as const,
        )
      equal(await statusOf('/v1/chat/completions'), 401)
      const project = 'proj_default'
      const path = `/api/v1/organizations/${organizationOf(owner)}/projects/${project}/playground/chat-completions`
      const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
      const byKey = await fetch(service.address + path, { method: 'POST', body, headers })
      equal(byKey.status, 401)
      deepEqual(Object.keys((await byKey.json()) as object), ['error'], 'It is told so in the words of the format.')
    })
  })
}
