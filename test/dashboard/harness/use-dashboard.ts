import { after, afterEach, before } from 'node:test'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../../harness/http/open-browser.ts'
import { startService, type Service, type ServiceOptions } from '../../harness/start-service.ts'
import { buildOnce } from './build-once.ts'
import { openDashboard, setUp, type Opened } from './open-dashboard.ts'
import { tellPages } from './tell-pages.ts'

export type Dashboard = { readonly browser: Browser; readonly service: Service; readonly owner: Opened }

type Settings = {
  /** Whether the owner has followed the first link before the tests begin; otherwise the service is as it was started. */
  readonly isSetUp: boolean
  /** What the service is started with, where that is not what it does by itself. */
  readonly service?: ServiceOptions
  /** What else stands before the first test. */
  prepare?(dashboard: Dashboard): Promise<void>
}

/**
 * One service and one browser for all tests of a file.
 *
 * What was opened is closed at the end, also where opening the rest failed: a browser or a service that runs on keeps
 * the process of the tests from ending.
 */
export function useDashboard({ isSetUp, service: options, prepare }: Settings): () => Dashboard {
  const closers: (() => Promise<unknown>)[] = []
  let dashboard: Dashboard | null = null
  const keep = async <Thing>(opening: Promise<Thing>, close: (thing: Thing) => Promise<unknown>): Promise<Thing> => {
    const thing = await opening
    closers.push(() => close(thing))
    return thing
  }
  before(async () => {
    buildOnce()
    const opening = [
      keep(openBrowser(), (browser) => browser.close()),
      keep(startService(options), (service) => service.stop()),
    ] as const
    // Neither is left behind where the other one fails.
    await Promise.allSettled(opening)
    const [browser, service] = await Promise.all(opening)
    dashboard = { browser, service, owner: await openDashboard(browser, service) }
    if (isSetUp) await setUp(dashboard.owner, service)
    await prepare?.(dashboard)
  })
  afterEach(async (context) => {
    if (dashboard !== null && 'error' in context) await tellPages(context, dashboard.browser)
  })
  after(() => Promise.all(closers.map((close) => close())))
  return () => {
    if (dashboard === null) throw new Error('The dashboard was not opened.')
    return dashboard
  }
}
