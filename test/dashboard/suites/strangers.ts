// What others wrote and other pages in the same browser try: a model's answer, and a page of another origin.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, test } from 'node:test'
import { paths, pagePath } from '../../../web/src/app/paths.ts'
import { askApi, goTo } from '../harness/ask.ts'
import { fitsItsWidth } from '../harness/find-faults.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'
import { payloads, type Breakouts } from './hostile.ts'

/** An answer of the wire format Messages: a text, and a call of a tool with the same as its argument. */
function streamOf(text: string): string {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'clarke-1.0', usage }
  const call = { type: 'tool_use', id: 'toolu_1', name: 'look_up', input: {} }
  const argument = { type: 'input_json_delta', partial_json: JSON.stringify({ text }) }
  const events = [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: call },
    { type: 'content_block_delta', index: 1, delta: argument },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** What a page of another origin tries with the session of the reader. It tells of what it could read. */
const attack = (target: string, path: string) => `<!doctype html><title>elsewhere</title><body><script type="module">
  const read = []
  const body = JSON.stringify({ name: 'taken' })
  const tries = [
    [{ method: 'POST', mode: 'no-cors', credentials: 'include', body }],
    [{ method: 'POST', credentials: 'include', body, headers: { 'content-type': 'application/json' } }],
    [{ credentials: 'include' }],
  ]
  for (const [options] of tries) {
    await fetch('${target}${path}', options).then(async (answer) => {
      const text = await answer.text()
      if (text !== '') read.push(text)
    }, () => null)
  }
  const frame = Object.assign(document.createElement('iframe'), { src: '${target}/' })
  document.body.append(frame)
  const form = Object.assign(document.createElement('form'), { method: 'POST', action: '${target}${path}', target: 'other' })
  form.enctype = 'text/plain'
  form.append(Object.assign(document.createElement('input'), { name: '{"name":"taken","x":"', value: '"}' }))
  document.body.append(form)
  form.submit()
  const image = new Image()
  image.onload = () => read.push('an image')
  image.src = '${target}${path}'
  const opened = window.open('${target}/')
  await new Promise((resolve) => setTimeout(resolve, 800))
  for (const one of [frame.contentWindow, opened]) {
    try { if (one?.document?.body?.textContent) read.push(one.document.body.textContent) } catch {}
  }
  document.title = 'done ' + JSON.stringify(read)
</script>`

type Settings = { readonly organizationId: () => string; readonly breakouts: () => Breakouts }

export function strangersSuite(dashboard: () => Dashboard, { organizationId, breakouts }: Settings): void {
  test('what a model answers, and what it gives a tool, is text and nothing more', async () => {
    const { page, origin } = dashboard().owner
    const all = payloads.join('\n')
    await page.route('**/playground/messages', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: streamOf(all) }),
    )
    await goTo(page, origin + pagePath('playground', { organizationId: organizationId() }))
    await page.getByLabel('Message', { exact: true }).fill(payloads[0] ?? '')
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByText('look_up').first().waitFor()
    const shown = (await page.getByRole('main').textContent()) ?? ''
    deepEqual(
      payloads.filter((one) => !shown.includes(one)),
      [],
    )
    for (const view of ['Request', 'Response']) await page.getByRole('button', { name: view, exact: true }).click()
    await page.unrouteAll({ behavior: 'wait' })
    deepEqual(breakouts().found, [])
    ok(await fitsItsWidth(page))
  })

  suite('a page of another origin', () => {
    test('changes nothing, reads nothing and frames nothing with the session of the reader', async (t) => {
      const { owner } = dashboard()
      const path = `/api/v1/organizations/${organizationId()}/projects`
      const server = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html').end(attack(owner.origin, path))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      t.after(() => server.close())
      const before = await askApi(owner.page, 'GET', `${path}?limit=200`)
      equal(before.status, 200)
      const evil = await owner.context.newPage()
      await evil.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      await evil.waitForFunction(() => document.title.startsWith('done'))
      equal(await evil.title(), 'done []')
      for (const page of owner.context.pages()) if (page !== owner.page) await page.close()
      deepEqual(await askApi(owner.page, 'GET', `${path}?limit=200`), before)
    })
  })

  test('every page comes with the same policy', async () => {
    const { service } = dashboard()
    const seen = new Set<string>()
    for (const pattern of Object.values(paths)) {
      const path = pattern.replace(':guide', 'running').replaceAll(/:\w+/g, 'x')
      const { status, headers } = await fetch(service.address + path, { headers: { accept: 'text/html' } })
      equal(status, 200, path)
      const own = ['content-length', 'date', 'request-id', 'x-request-id', 'connection', 'keep-alive']
      seen.add(JSON.stringify([...headers].filter(([name]) => !own.includes(name))))
    }
    equal(seen.size, 1, [...seen].join('\n'))
    const headers = Object.fromEntries(JSON.parse([...seen][0] ?? '[]') as [string, string][])
    deepEqual(headers, {
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
        "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
        "trusted-types 'none'; report-uri /api/v1/csp-reports; report-to csp",
      'content-type': 'text/html; charset=utf-8',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy':
        'camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-write=(self), ' +
        'publickey-credentials-get=(self), publickey-credentials-create=(self)',
      'referrer-policy': 'no-referrer',
      'reporting-endpoints': 'csp="/api/v1/csp-reports"',
      vary: 'Accept, Cookie',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
  })
}
