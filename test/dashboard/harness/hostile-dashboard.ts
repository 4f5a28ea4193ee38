import { pagePath, type PageName } from '../../../web/src/app/paths.ts'
import { routes } from '../../../web/src/app/route-table.ts'
import { makeHostileThings, payloads, watchForBreakouts, type Breakouts } from '../suites/hostile.ts'
import { memberIdOf, openDashboard, organizationOf, type Opened } from './open-dashboard.ts'
import { useDashboard, type Dashboard } from './use-dashboard.ts'

/** A dashboard whose owner has given a hostile name to everything that has one, and what its pages are opened with. */
export type HostileDashboard = {
  dashboard(): Dashboard
  /** Who opens a page: the owner, or somebody who has not signed in where a page is for everybody. */
  reader(name: PageName): Opened
  addressOf(name: PageName): string
  /** What stands for each name in the addresses of pages. */
  params(): Readonly<Record<string, string>>
  breakouts(): Breakouts
  /** Gives all things the names that they have not had yet. */
  addOtherNames(): Promise<void>
  /** What broke the content policy, and what failed in a program. */
  faults(): readonly string[]
}

/** Every page of the table but the one that leads to another. */
export const pages = Object.entries(routes).filter(([name]) => name !== 'start') as [
  PageName,
  (typeof routes)[PageName],
][]
export const isPublic = (name: PageName) => routes[name].needs === 'public'

/** As most desks are, and as the narrowest phone. */
export const [wide, narrow] = [
  { width: 1_280, height: 800 },
  { width: 320, height: 700 },
]

type Settings = {
  /** How many of the 200 names are there before the first test. */
  readonly names: number
  /** What else stands before it. */
  prepare?(opened: readonly Opened[]): Promise<void>
}

/** For all tests of a file. */
export function useHostileDashboard({ names, prepare }: Settings): HostileDashboard {
  let params: Record<string, string> = {}
  let breakouts: Breakouts = { found: [] }
  let stranger: Opened | null = null
  const dashboard = useDashboard({
    isSetUp: true,
    async prepare({ browser, owner, service }) {
      stranger = await openDashboard(browser, service)
      const organizationId = organizationOf(owner)
      await prepare?.([stranger, owner])
      breakouts = await watchForBreakouts(owner)
      const records = await makeHostileThings(owner, service, { organizationId, names: payloads.slice(0, names) })
      const requestId = service.ledger().at(-1)?.request_id ?? ''
      params = { organizationId, memberId: await memberIdOf(owner.page), ...records, guide: 'running', requestId }
    },
  })
  const reader = (name: PageName) => {
    const opened = isPublic(name) ? stranger : dashboard().owner
    if (opened === null) throw new Error('The dashboard was not opened.')
    return opened
  }
  return {
    dashboard,
    reader,
    addressOf: (name) => reader(name).origin + pagePath(name, params) + (isPublic(name) ? '#none' : ''),
    params: () => params,
    breakouts: () => breakouts,
    async addOtherNames() {
      const { owner, service } = dashboard()
      const { organizationId = '' } = params
      await makeHostileThings(owner, service, { organizationId, names: payloads.slice(names) })
    },
    faults: () => [...dashboard().owner.faults, ...(stranger?.faults ?? [])],
  }
}
