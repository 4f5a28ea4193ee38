import { request, type IncomingHttpHeaders } from 'node:http'

/** What stands in the window of a browser. */
export type Page = {
  readonly url: URL
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

type Cookie = { readonly value: string; readonly path: string; readonly site: string }
type Sent = { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
type Going = { readonly url: URL; readonly form: Form['fields'] | null; readonly from: URL | null }
type Form = { readonly action: URL; readonly method: string; readonly fields: Record<string, string> }

/** More pages than any way of signing in has. */
const stepsMax = 20

/**
 * A browser of plain HTTP, for the pages of providers: it follows what sends it on, also the forms that send themselves,
 * and keeps cookies as browsers do, those of other sites included. What needs a script of a page is not done.
 */
export class CookieBrowser {
  /** Where it has been, oldest first. */
  readonly visited: URL[] = []
  /** Where it does not go on to by itself, so that what it would bring can be looked at. */
  stopsAt: (url: URL) => boolean = () => false
  readonly #cookies = new Map<string, Map<string, Cookie>>()

  /** Goes to an address as somebody does who enters it. */
  go(url: string): Promise<Page> {
    return this.#follow({ url: new URL(url), form: null, from: null })
  }

  /** Fills in the form of a page, and sends it. */
  async submit(page: Page, filled: Readonly<Record<string, string>>): Promise<Page> {
    const form = readForm(page)
    if (form === null) throw new Error(`${page.url.href} has no form: ${page.text.slice(0, 300)}`)
    return this.#follow(stepOf({ ...form, fields: { ...form.fields, ...filled } }, page.url))
  }

  /** What stands in the form of a page. */
  fieldsOf(page: Page): Record<string, string> {
    return readForm(page)?.fields ?? {}
  }

  /** Sends a form that another site has put together, as a captured one. */
  post(url: string, fields: Record<string, string>, from: string): Promise<Page> {
    return this.#follow({ url: new URL(url), form: fields, from: new URL(from) })
  }

  /** Asks as a script of a page of the same site does. */
  async ask(url: string, { method = 'GET', body }: { method?: string; body?: unknown } = {}): Promise<Page> {
    const { origin } = new URL(url)
    const headers = { origin, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return this.#send(new URL(url), { method, headers: { ...headers, ...json }, ...sent }, { isSameSite: true })
  }

  /** Closes every window, and forgets who it was. */
  forget(host: string): void {
    this.#cookies.delete(host)
  }

  async #follow(first: Going): Promise<Page> {
    let step = first
    for (let count = 0; count < stepsMax; count++) {
      const page = await this.#visit(step)
      const next = nextOf(page, step)
      if (next === null || this.stopsAt(next.url)) return page
      step = next
    }
    throw new Error(`It is sent on and on, lastly to ${step.url.href}.`)
  }

  #visit({ url, form, from }: Going): Promise<Page> {
    this.visited.push(url)
    const isSameSite = from === null || from.hostname === url.hostname
    const site = from === null ? 'none' : from.origin === url.origin ? 'same-origin' : 'cross-site'
    const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    if (form === null) return this.#send(url, { headers }, { isSameSite })
    const origin = from === null ? {} : { origin: from.origin }
    const content = { 'content-type': 'application/x-www-form-urlencoded', ...origin }
    const body = new URLSearchParams(form).toString()
    return this.#send(url, { method: 'POST', headers: { ...headers, ...content }, body }, { isSameSite })
  }

  async #send(url: URL, sent: Sent, { isSameSite }: { readonly isSameSite: boolean }): Promise<Page> {
    const { method = 'GET', body = '' } = sent
    const cookie = this.#cookiesFor(url, { isSameSite, method })
    const length = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const headers = { ...sent.headers, ...length, ...(cookie !== '' && { cookie }), accept: 'text/html, */*' }
    const page = await exchange(url, { method, headers, body })
    for (const line of page.headers['set-cookie'] ?? []) this.#keep(url, line)
    return page
  }

  #cookiesFor({ hostname, pathname }: URL, { isSameSite, method }: { isSameSite: boolean; method: string }): string {
    const isSent = ({ path, site }: Cookie) => {
      const isThere = pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
      return isThere && (isSameSite || site === 'none' || (site === 'lax' && method === 'GET'))
    }
    const known = [...(this.#cookies.get(hostname) ?? [])]
    const found = known.filter(([, cookie]) => isSent(cookie))
    return found.map(([name, { value }]) => `${name}=${value}`).join('; ')
  }

  /** This machine counts as a safe line, so that cookies for safe lines alone are kept too. */
  #keep({ hostname }: URL, line: string): void {
    const [pair = '', ...words] = line.split(/; */)
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? []
    const said = new Map(words.map((word) => [word.split('=')[0]?.toLowerCase() ?? '', word.split('=')[1] ?? '']))
    const kept = this.#cookies.get(hostname) ?? new Map<string, Cookie>()
    this.#cookies.set(hostname, kept)
    if (said.get('max-age') === '0' || value === '') kept.delete(name)
    else kept.set(name, { value, path: said.get('path') ?? '/', site: said.get('samesite')?.toLowerCase() ?? 'lax' })
  }
}

function exchange(url: URL, { method, headers, body }: Required<Sent>): Promise<Page> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part)).on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0, headers: answered } = response
        resolve({ url, status, headers: answered, text: Buffer.concat(parts).toString() })
      })
    })
    asking.on('error', reject).end(body)
  })
}

/** Where a page sends the browser by itself; null for one at which it stays. */
function nextOf(page: Page, { from, form, url }: Going): Going | null {
  const { location } = page.headers
  // Whoever has begun the way has begun all of it.
  if (location !== undefined && page.status >= 300) {
    return { url: new URL(location, url), form: page.status === 307 ? form : null, from }
  }
  const sendsItself = /document\.forms\[0\]\.submit\(\)/.test(page.text)
  const found = sendsItself ? readForm(page) : null
  return found === null ? null : stepOf(found, page.url)
}

function stepOf({ action, method, fields }: Form, from: URL): Going {
  if (method === 'post') return { url: action, form: fields, from }
  const url = new URL(action)
  url.search = new URLSearchParams(fields).toString()
  return { url, form: null, from }
}

/** The first form of a page, with what stands in it. */
function readForm({ text, url }: Page): Form | null {
  const [, opening = '', content = ''] = /<form\b([^>]*)>([^]*?)<\/form>/i.exec(text) ?? []
  const action = attributeOf(opening, 'action')
  if (action === null) return null
  const inputs = [...content.matchAll(/<input\b([^>]*)>/gi)].map(([, attributes = '']) => attributes)
  const named = inputs.flatMap((input) => {
    const name = attributeOf(input, 'name')
    return name === null ? [] : [[name, attributeOf(input, 'value') ?? ''] as const]
  })
  const method = (attributeOf(opening, 'method') ?? 'get').toLowerCase()
  return { action: new URL(action, url), method, fields: Object.fromEntries(named) }
}

function attributeOf(tag: string, name: string): string | null {
  const [, value] = new RegExp(`\\b${name}\\s*=\\s*"([^"]*)"`, 'i').exec(tag) ?? []
  return value === undefined ? null : unescapeHtml(value)
}

function unescapeHtml(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return text.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, code?: string, word = '') => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    return code !== undefined ? String.fromCodePoint(Number(code)) : (named[word as string] ?? whole)
  })
}
