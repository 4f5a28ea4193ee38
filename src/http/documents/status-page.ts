import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DownInterval } from '../../billing/availability/down-time.ts'
import type { HistoryDay, ModelHistory, StatusHistory } from '../../billing/availability/status-history.ts'
import { escapeXml } from '../../lib/xml/write-xml.ts'
import { readReadiness, type Readiness, type ReadinessParts } from '../health.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

export type StatusParts = ReadinessParts & {
  /** How the models were; null where nothing is known of it. */
  readHistory?(): StatusHistory | null
  /** Where browsers reach the service; null where only this machine's do. */
  readonly management: { readonly publicUrl: string | null }
}

/** Nothing but its own text: no script, no style, no other host. */
const headers = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // Many readers at once are answered out of caches, and nobody reads what is older.
  'cache-control': 'public, max-age=10',
}

/** How the service is and was, for anybody. It needs neither the dashboard nor the database. */
export function statusRoutes(parts: StatusParts): Readonly<Record<string, { readonly GET: Handler }>> {
  const read = () => ({ readiness: readReadiness(parts), history: parts.readHistory?.() ?? null })
  const send = (type: string, write: (status: Status) => string) => {
    const writeOnce = keepingLast(write)
    return {
      async GET(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
        await reply.headers(headers).type(type).send(writeOnce(read()))
      },
    }
  }
  const { publicUrl } = parts.management
  return {
    '/status': send('text/html; charset=utf-8', writePage),
    '/status.json': send('application/json', (status) => JSON.stringify(summarize(status, publicUrl))),
    '/status.atom': send('application/atom+xml; charset=utf-8', (status) => writeFeed(status, publicUrl)),
  }
}

type Status = { readonly readiness: Readiness; readonly history: StatusHistory | null }

/** Writes anew only what has changed: crowds read the page at just the time at which something else needs the processor. */
function keepingLast(write: (status: Status) => string): (status: Status) => string {
  let last: { readonly history: StatusHistory | null; readonly readiness: string; readonly text: string } | null = null
  return (status) => {
    const { history } = status
    const readiness = JSON.stringify(status.readiness)
    if (last === null || last.history !== history || last.readiness !== readiness)
      last = { history, readiness, text: write(status) }
    return last.text
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

/** As the summaries of the usual status pages are shaped, with the past beside it. */
function summarize({ readiness, history }: Status, publicUrl: string | null) {
  const { status, models, keys, ledger } = readiness
  const ids = Object.keys(models)
  const broken = ids.filter((id) => models[id] !== 'ready').length
  const isUsable = keys === 'ready' && ledger === 'ready'
  const indicator = status === 'ready' ? 'none' : !isUsable || broken === ids.length ? 'critical' : 'major'
  const component = (id: string, isReady: boolean) => ({
    id,
    name: id,
    status: isReady ? 'operational' : 'major_outage',
  })
  return {
    page: {
      id: 'odyssey',
      name: 'Odyssey',
      url: publicUrl ?? '',
      time_zone: 'Etc/UTC',
      updated_at: history === null ? null : toTime(history.atMs),
    },
    status: { indicator: status === 'draining' ? 'maintenance' : indicator, description: overall[status] },
    components: [
      ...ids.map((id) => {
        const own = history?.models.find(({ model }) => model === id)
        return { ...component(id, models[id] === 'ready'), ...(own !== undefined && showPast(own)) }
      }),
      component('keys', keys === 'ready'),
      component('ledger', ledger === 'ready'),
    ],
    incidents: [],
    scheduled_maintenances: [],
    past_incidents: incidentsOf(history).map(({ model, fromMs, untilMs }) => {
      return { component: model, started_at: toTime(fromMs), resolved_at: toTime(untilMs) }
    }),
  }
}

function showPast({ days, firstTokenMs }: ModelHistory) {
  return {
    days: days.map(({ day, minutes, downMinutes }) => ({ date: day, minutes, down_minutes: downMinutes })),
    first_token_ms: firstTokenMs,
  }
}

type Incident = DownInterval & { readonly model: string }

/** Of all models, the latest first. */
function incidentsOf(history: StatusHistory | null): Incident[] {
  const all = history?.models.flatMap(({ model, incidents }) => incidents.map((one) => ({ ...one, model }))) ?? []
  return all.toSorted((a, b) => b.fromMs - a.fromMs)
}

function writeFeed({ history }: Status, publicUrl: string | null): string {
  const origin = publicUrl ?? 'http://localhost'
  const incidents = incidentsOf(history)
  const updated = toTime(Math.max(0, ...incidents.map(({ untilMs }) => untilMs)))
  const entries = incidents.map(({ model, fromMs, untilMs, minutes }) => {
    const title = escapeXml(`${model} was down for ${countOf(minutes, 'minute')}`)
    return (
      `<entry><id>${escapeXml(`${origin}/status#${model}-${fromMs}`)}</id><title>${title}</title>` +
      `<updated>${toTime(untilMs)}</updated><published>${toTime(fromMs)}</published></entry>`
    )
  })
  return (
    '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Status · Odyssey</title>' +
    `<id>${escapeXml(`${origin}/status`)}</id><updated>${updated}</updated><author><name>Odyssey</name></author>` +
    `${entries.join('')}</feed>`
  )
}

/** Words say every state, so that nothing depends on colours. Names are the service's own, and not anybody's text. */
function writePage({ readiness, history }: Status): string {
  const { status, models, keys, ledger } = readiness
  const rows = Object.entries(models).map(([id, state]) => {
    const own = history?.models.find(({ model }) => model === id)
    return `<dt>${id}</dt><dd>${states[state] ?? state}</dd>${own === undefined ? '' : `<dd>${writePast(own)}</dd>`}`
  })
  const others = [
    keys === 'ready' ? '' : '<p>Keys cannot be checked at the moment: those in use go on working for a while.</p>',
    ledger === 'ready' ? '' : '<p>Requests cannot be recorded at the moment, so they are refused.</p>',
  ]
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Status · Odyssey</title>' +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
    '<meta http-equiv="refresh" content="30"><link rel="alternate" type="application/atom+xml" href="/status.atom">' +
    `</head><body><main><h1>Status</h1><p><strong>${overall[status]}</strong></p><dl>${rows.join('')}</dl>` +
    `${others.join('')}${writeIncidents(history)}` +
    '<p><a href="/status.json">As JSON</a> · <a href="/status.atom">As a feed</a> · ' +
    '<a href="/docs/errors">What errors mean</a></p></main></body></html>'
  )
}

const barWidth = 4
const barHeight = 28

/** The days as bars: full where a day was whole, lower by what of it was down, and none where nothing is known. */
function writePast({ days, firstTokenMs }: ModelHistory): string {
  const bars = days.map((day, index) => {
    const height = day.minutes === 0 ? 1 : Math.max(2, Math.round(barHeight * shareUp(day)))
    const [x, y] = [index * barWidth, barHeight - height]
    const opacity = day.minutes === 0 ? '0.2' : day.downMinutes === 0 ? '0.5' : '1'
    return (
      `<rect x="${x}" y="${y}" width="${barWidth - 1}" height="${height}" fill="currentColor" fill-opacity="${opacity}">` +
      `<title>${describeDay(day)}</title></rect>`
    )
  })
  const known = days.filter(({ minutes }) => minutes > 0)
  const sum = { minutes: 0, downMinutes: 0 }
  for (const { minutes, downMinutes } of known) {
    sum.minutes += minutes
    sum.downMinutes += downMinutes
  }
  const summary =
    sum.minutes === 0
      ? 'Nothing is known of the past yet.'
      : `${percentOf(shareUp(sum))} of ${countOf(known.length, 'day')} up, ${countOf(sum.downMinutes, 'minute')} down.`
  const speed =
    firstTokenMs === null
      ? ''
      : ` First token of the last day: ${firstTokenMs.p50} ms for half, ${firstTokenMs.p95} ms for 95 %.`
  const size = `width="${days.length * barWidth}" height="${barHeight}"`
  return `<svg ${size} role="img" aria-label="${summary}">${bars.join('')}</svg><br>${summary}${speed}`
}

function describeDay({ day, minutes, downMinutes }: HistoryDay): string {
  if (minutes === 0) return `${day}: not known`
  return `${day}: ${downMinutes === 0 ? 'up' : `${countOf(downMinutes, 'minute')} down`}`
}

function shareUp({ minutes, downMinutes }: Pick<HistoryDay, 'minutes' | 'downMinutes'>): number {
  return (minutes - downMinutes) / minutes
}

/** Rounded down, so that 100 % is whole. */
function percentOf(share: number): string {
  return `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`
}

function writeIncidents(history: StatusHistory | null): string {
  const incidents = incidentsOf(history).map(({ model, fromMs, untilMs, minutes }) => {
    const [from, until] = [fromMs, untilMs].map((ms) => toTime(ms).slice(0, 16).replace('T', ' '))
    return `<li>${model}: ${from} to ${until} UTC, ${countOf(minutes, 'minute')} down</li>`
  })
  if (history === null) return ''
  return `<h2>The last 14 days</h2>${incidents.length === 0 ? '<p>Nothing was down.</p>' : `<ul>${incidents.join('')}</ul>`}`
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}
