// Names that try to be more than names, in every field that takes one, and a watch over what they must not bring about.

import { equal } from 'node:assert/strict'
import type { Service } from '../../harness/start-service.ts'
import { askApi } from '../harness/ask.ts'
import type { Opened } from '../harness/open-dashboard.ts'

const call = 'globalThis.brokenOut=1'
const away = 'https://elsewhere.invalid/x'

const markup = [
  `<script>${call}</script>`,
  `<img src=x onerror=${call}>`,
  `<svg onload=${call}>`,
  `<svg><script>${call}</script></svg>`,
  `<iframe srcdoc="<script>${call}</script>">`,
  `<a href="javascript:${call}">x</a>`,
  `<body onload=${call}>`,
  `<style>*{display:none}</style>`,
  `<link rel=stylesheet href=${away}>`,
  `<base href=${away}>`,
  `<meta http-equiv=refresh content="0;url=${away}">`,
  `<form action=${away}><input name=q></form>`,
  `<math><mi xlink:href="javascript:${call}">x</mi></math>`,
  `<details open ontoggle=${call}>`,
  `<template><script>${call}</script></template>`,
  `<img src=${away}>`,
  `<object data="javascript:${call}">`,
  `<title>taken</title>`,
  `</title><script>${call}</script>`,
  `--><script>${call}</script><!--`,
]
/** How each of them is cut into what may stand around it. */
const around = [
  (text: string) => text,
  (text: string) => `"${text}`,
  (text: string) => `'>${text}`,
  (text: string) => text.toUpperCase().replaceAll('GLOBALTHIS.BROKENOUT', 'globalThis.brokenOut'),
  (text: string) => text.replaceAll('<', '&lt;'),
  (text: string) => text.replaceAll('<', String.raw`\u003c`),
  (text: string) => encodeURIComponent(text),
  (text: string) => `${text}\u202e\u2066${text}`.slice(0, 190),
]
const others = [
  `javascript:${call}`,
  `data:text/html,<script>${call}</script>`,
  `{{constructor.constructor('${call}')()}}`,
  `\${${call}}`,
  `#{${call}}`,
  `<%= ${call} %>`,
  `=HYPERLINK("${away}","x")`,
  `+cmd|' /C calc'!A0`,
  `@SUM(1+1)*cmd|' /C calc'!A0`,
  `-2+3+cmd|' /C calc'!A0`,
  '\u202egnp.exe',
  'a\u200b\u200c\u200d\u2060b',
  '\u0627\u0644\u0639\u0631\u0628\u064a\u0629 abc',
  'e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301',
  '👩‍👩‍👧‍👦'.repeat(10),
  'W'.repeat(200),
  'a-very-long-name-without-any-space-'.repeat(5),
  'x '.repeat(99).trim(),
  "'; drop table api_keys; --",
  '" or 1=1 --',
  '../../../../etc/passwd',
  '%2e%2e%2f%00',
  '[x](javascript:alert(1))',
  `![x](${away})`,
  '*/ alert(1) /*',
  '\\u0000',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'NaN',
  '0',
  'true',
  '{"$ne":null}',
  '<!--#exec cmd="ls"-->',
  '<?php echo 1 ?>',
  'constructor.prototype',
  '\u{10ffff}',
  'ﷺ'.repeat(60),
  ']]>',
]

/** Two hundred of them. */
export const payloads: readonly string[] = [...markup.flatMap((text) => around.map((cut) => cut(text))), ...others]

export type Breakouts = { readonly found: string[] }

/** Notes what none of the pages may do because of a name: talk, ask elsewhere, run or become a script, be another page. */
export async function watchForBreakouts({ page, context, origin }: Opened): Promise<Breakouts> {
  const found: string[] = []
  page.on('dialog', (dialog) => {
    found.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && url.protocol !== 'data:') found.push(`request: ${request.url()}`)
    if (url.pathname === '/api/v1/csp-reports') found.push(`report: ${request.postData()}`)
  })
  await context.exposeFunction('noteBreakout', (what: string) => found.push(what))
  await context.addInitScript(() => {
    const { noteBreakout } = globalThis as unknown as { noteBreakout(what: string): void }
    Object.defineProperty(globalThis, 'brokenOut', {
      get: () => 0,
      set() {
        noteBreakout('a script ran')
      },
    })
    const bad = 'script:not([src]), iframe, object, embed, base, form[action], meta[http-equiv], math'
    new MutationObserver(() => {
      const element = document.body?.querySelector(bad)
      if (element !== null && element !== undefined) noteBreakout(`element: ${element.outerHTML.slice(0, 100)}`)
      if (document.title.includes('taken')) noteBreakout(`title: ${document.title}`)
    }).observe(document, { childList: true, subtree: true })
  })
  return { found }
}

type Made = { readonly apiKey: { readonly id: string }; readonly key: string }

type Hostile = { readonly organizationId: string; readonly names: readonly string[] }

/** Gives every kind of thing that has a name these names, and asks with the last key. Resolves with records to look at. */
export async function makeHostileThings(
  { page }: Opened,
  service: Service,
  { organizationId, names }: Hostile,
): Promise<{ readonly apiKeyId: string; readonly serviceAccountId: string }> {
  const within = `/api/v1/organizations/${organizationId}`
  const make = async (path: string, body: unknown, method = 'POST') => {
    const answer = await askApi(page, method, within + path, body)
    // What the service does not take cannot be shown; all else has to be.
    equal([200, 201, 400].includes(answer.status), true, JSON.stringify(answer))
    return answer
  }
  const projects = (await make('/projects?limit=1', undefined, 'GET')).body as {
    readonly data: readonly { readonly id: string }[]
  }
  const projectId = projects.data[0]?.id ?? ''
  let last: Made | null = null
  const account = await make('/service-accounts', { name: names[0], projectId })
  const { id: serviceAccountId } = account.body as { readonly id: string }
  await make('/api-keys', { name: names[1], projectId, serviceAccountId })
  for (const [index, name] of names.entries()) {
    const { status, body } = await make('/api-keys', { name, projectId })
    if (status === 201) last = body as Made
    if (index % 10 === 0) await make('/projects', { name })
    if (index % 40 === 0) await make('/service-accounts', { name, projectId })
    if (index % 40 === 0) await make('/roles', { name, base: 'admin', permissions: ['members:read'] })
    if (index % 20 === 0) {
      await make('/invitations', {
        email: `guest${names.length}-${index}@example.com`,
        name,
        role: 'auditor',
        projectIds: [],
      })
    }
  }
  await make('', { name: names[1] }, 'PATCH')
  await make('/settings', { contact: names[0] }, 'PATCH')
  if (last === null) throw new Error('No key was made.')
  const { key, apiKey } = last
  await make('/limits', { subject: { kind: 'api-key', id: apiKey.id }, model: '*', inputTokensPerMinute: 1_000 }, 'PUT')
  await make('/budgets', { subject: { kind: 'api-key', id: apiKey.id }, period: 'month', tokensMax: 1_000_000 }, 'PUT')
  for (const name of names.slice(0, 20)) {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-client-request-id': encodeURI(name).slice(0, 128),
    }
    const body = JSON.stringify({ model: 'clarke-1.0', max_tokens: 3, messages: [{ role: 'user', content: name }] })
    await (await fetch(`${service.address}/v1/chat/completions`, { method: 'POST', headers, body })).arrayBuffer()
  }
  return { apiKeyId: apiKey.id, serviceAccountId }
}
