import type { FastifyReply, FastifyRequest } from 'fastify'
import { readReadiness, type Readiness, type ReadinessParts } from '../health.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Nothing but its own text: no script, no style, no other host. */
const headers = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // Many readers at once are answered out of caches, and nobody reads what is older.
  'cache-control': 'public, max-age=10',
}

/** How the service is, for anybody. It needs neither the dashboard nor the database. */
export function statusRoutes(parts: ReadinessParts): Readonly<Record<string, { readonly GET: Handler }>> {
  return {
    '/status': {
      async GET(_request, reply) {
        await reply
          .headers(headers)
          .type('text/html; charset=utf-8')
          .send(writePage(readReadiness(parts)))
      },
    },
    '/status.json': {
      async GET(_request, reply) {
        await reply
          .headers(headers)
          .type('application/json')
          .send(JSON.stringify(readReadiness(parts)))
      },
    },
  }
}

const overall: Readonly<Record<Readiness['status'], string>> = {
  ready: 'All models answer.',
  'not ready': 'Not everything works.',
  draining: 'The service is about to stop; running answers are finished.',
}

const states: Readonly<Record<string, string>> = {
  ready: 'answers',
  loading: 'is being loaded; requests wait for it',
  down: 'does not answer',
  closed: 'has ended',
}

/** Words say every state, so that nothing depends on colours. Names are the service's own, and not anybody's text. */
function writePage({ status, models, keys, ledger }: Readiness): string {
  const rows = Object.entries(models).map(([id, state]) => `<dt>${id}</dt><dd>${states[state] ?? state}</dd>`)
  const others = [
    keys === 'ready' ? '' : '<p>Keys cannot be checked at the moment: those in use go on working for a while.</p>',
    ledger === 'ready' ? '' : '<p>Requests cannot be recorded at the moment, so they are refused.</p>',
  ]
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Status · Odyssey</title>' +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
    '<meta http-equiv="refresh" content="30"></head><body><main><h1>Status</h1>' +
    `<p><strong>${overall[status]}</strong></p><dl>${rows.join('')}</dl>${others.join('')}` +
    '<p><a href="/status.json">As JSON</a> · <a href="/docs/errors">What errors mean</a></p></main></body></html>'
  )
}
