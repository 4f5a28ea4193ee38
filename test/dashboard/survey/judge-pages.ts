import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fetchModules } from '../../conformance/identity/programs.ts'
import { findFreePort } from '../../harness/http/find-free-port.ts'
import { openBrowser } from '../../harness/http/open-browser.ts'
import { pagePath, type PageName } from '../../../web/src/app/paths.ts'
import { routes } from '../../../web/src/app/route-table.ts'
import type { Opened } from '../harness/open-dashboard.ts'

/** It weighs more than everything else that tests need together, so it is fetched when it is asked for. */
const version = '13.5.0'
const categories = ['accessibility', 'best-practices'] as const
/** What each page has at least, and what those have that are seen most. */
const scoreMin = 0.95
const whole: ReadonlySet<PageName> = new Set(['login', 'home', 'keys', 'usage'])

type Audit = { readonly title: string; readonly score: number | null }
type Report = {
  readonly lhr: {
    readonly runtimeError?: { readonly message: string }
    readonly categories: Readonly<
      Record<string, { readonly score: number | null; readonly auditRefs: readonly { readonly id: string }[] }>
    >
    readonly audits: Readonly<Record<string, Audit>>
  }
}
type Lighthouse = (
  address: string,
  flags: Readonly<Record<string, unknown>>,
  config?: Readonly<Record<string, unknown>>,
) => Promise<Report | undefined>

type Judged = {
  readonly opened: Opened
  readonly params: Readonly<Record<string, string>>
  readonly folder: string
  /** Only pages with one of these names; all where there are none. */
  readonly wanted: readonly string[]
}

/** What Lighthouse says of every page, as somebody who has signed in and at a desk. Resolves with what misses its score. */
export async function judgePages({ opened, params, folder, wanted }: Judged): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true })
  const lighthouse = await loadLighthouse()
  const port = await findFreePort()
  const browser = await openBrowser([`--remote-debugging-port=${port}`])
  const missed: string[] = []
  try {
    const cookies = await opened.context.cookies(opened.origin)
    const headers = { Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') }
    const isWanted = (name: PageName) => name !== 'start' && (wanted.length === 0 || wanted.includes(name))
    for (const name of (Object.keys(routes) as PageName[]).filter(isWanted)) {
      // Who has signed in is led away from where one signs in.
      const extraHeaders = routes[name].needs === 'public' ? {} : headers
      const report = await lighthouse(
        opened.origin + pagePath(name, params),
        { port, extraHeaders, onlyCategories: [...categories], logLevel: 'error' },
        { extends: 'lighthouse:default', settings: { formFactor: 'desktop', screenEmulation: { disabled: true } } },
      )
      missed.push(...tell(name, report, folder))
    }
  } finally {
    await browser.close()
  }
  return missed
}

/** Says a page's scores, and returns what is missing from them. */
function tell(name: PageName, report: Report | undefined, folder: string): string[] {
  if (report === undefined || report.lhr.runtimeError !== undefined)
    return [`${name}: ${report?.lhr.runtimeError?.message ?? 'nothing was said'}`]
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(report.lhr))
  const least = whole.has(name) ? 1 : scoreMin
  const missed: string[] = []
  const scores = categories.map((category) => {
    const { score, auditRefs } = report.lhr.categories[category] ?? { score: null, auditRefs: [] }
    const lacking = auditRefs.flatMap(({ id }) => {
      const audit = report.lhr.audits[id]
      return audit?.score === null || audit === undefined || audit.score >= 1 ? [] : [audit.title]
    })
    if (score === null || score < least) missed.push(`${name}: ${category} ${score}: ${lacking.join('; ')}`)
    return `${category} ${score === null ? 'none' : Math.round(score * 100)}${lacking.length > 0 ? ` (${lacking.join('; ')})` : ''}`
  })
  console.log(`${name}: ${scores.join(', ')}`)
  return missed
}

async function loadLighthouse(): Promise<Lighthouse> {
  const modules = await fetchModules('Lighthouse', 'lighthouse', { package: 'lighthouse', version })
  const entry = pathToFileURL(join(modules, 'lighthouse/core/index.js')).href
  const { default: lighthouse } = (await import(entry)) as { readonly default: Lighthouse }
  return lighthouse
}
