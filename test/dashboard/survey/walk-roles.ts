import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import type { ApiKeyId, OrganizationId, ProjectId } from '../../../src/core/ids.ts'
import { roles, type Role } from '../../../src/core/role.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { pagePath, type PageName } from '../../../web/src/app/paths.ts'
import { routes } from '../../../web/src/app/route-table.ts'
import type { Service } from '../../harness/start-service.ts'
import { askApi, goTo } from '../harness/ask.ts'
import { fitsItsWidth, widestOf } from '../harness/find-faults.ts'
import { openDashboard, type Opened } from '../harness/open-dashboard.ts'
import { writeRandomRequests } from '../harness/random-requests.ts'

const requests = 100_000
const days = 60
const dayMs = 86_400_000
const sizes = [
  { width: 1_280, height: 800 },
  { width: 390, height: 844 },
] as const

type Walk = {
  readonly browser: Browser
  readonly service: Service
  readonly owner: Opened
  readonly params: Readonly<Record<string, string>>
  readonly folder: string
}

/**
 * Goes to every page as each role, at two sizes, over many requests, and tries what stands on it. Resolves with what was
 * refused to a page that is shown, what failed, and what is too wide.
 */
export async function walkAsRoles(walk: Walk): Promise<readonly string[]> {
  const { browser, service, owner, folder, params } = walk
  mkdirSync(folder, { recursive: true })
  await fill(walk)
  const member = await invite(walk)
  const found: string[] = []
  let pagesSeen = 0
  for (const role of roles) {
    const { opened, memberId } = member
    await giveRole(owner, { organizationId: params['organizationId'] ?? '', memberId, role })
    await opened.page.reload()
    for (const viewport of sizes) {
      await opened.page.setViewportSize(viewport)
      for (const name of pagesOf()) {
        pagesSeen += 1
        const where = `${role} ${viewport.width} ${name}`
        const faults = await visit(opened, { where, name, params: { ...params, memberId }, folder })
        for (const fault of faults) console.log(fault)
        found.push(...faults)
      }
    }
    for (const fault of opened.faults.splice(0)) {
      console.log(`${role}: the console: ${fault}`)
      found.push(fault)
    }
    console.log(`${role}: ${pagesSeen} pages so far`)
  }
  await member.opened.context.close()
  const rows = await countRows(service)
  console.log(
    `${pagesSeen} pages over ${rows} rows of the ledger by ${browser.browserType().name()}, ${found.length} faults`,
  )
  return found
}

function pagesOf(): readonly PageName[] {
  return (Object.keys(routes) as PageName[]).filter((name) => name !== 'start' && routes[name].needs !== 'public')
}

type Visit = {
  readonly where: string
  readonly name: PageName
  readonly params: Readonly<Record<string, string>>
  readonly folder: string
}

async function visit({ page, origin }: Opened, { where, name, params, folder }: Visit): Promise<readonly string[]> {
  const found: string[] = []
  const hear = (response: { status(): number; url(): string }) => {
    const { pathname } = new URL(response.url())
    if (response.status() >= 400) found.push(`${where}: ${response.status()} for ${pathname}`)
  }
  page.on('response', hear)
  await goTo(page, origin + pagePath(name, params))
  if (!(await fitsItsWidth(page))) found.push(`${where}: too wide: ${await widestOf(page)}`)
  const text = (await page.locator('main').textContent()) ?? ''
  if (/could not be read|undefined|NaN|\[object/.test(text)) found.push(`${where}: ${text.slice(0, 200)}`)
  await page.screenshot({ path: join(folder, `${where.replaceAll(' ', '-')}.png`) })
  await tryFilters(page)
  page.off('response', hear)
  return found
}

/** Chooses the last of each list above what is shown, and looks for something that is not there. */
async function tryFilters(page: Page): Promise<void> {
  const lists = page.locator('main [role="search"] select:visible')
  for (let index = 0; index < (await lists.count()); index += 1) {
    const list = lists.nth(index)
    const last = await list.evaluate((element) => (element as HTMLSelectElement).options.length - 1)
    await list.selectOption({ index: last }, { timeout: 2_000 }).catch(() => {})
  }
  const search = page.locator('main input[type="search"]:visible').first()
  if ((await search.count()) > 0) await search.fill('%_\'"<b>')
  await page.waitForTimeout(300)
}

async function fill({ owner, service, params }: Walk): Promise<void> {
  const organizationId = params['organizationId'] as OrganizationId
  const { body } = await askApi(owner.page, 'GET', `/api/v1/organizations/${organizationId}/api-keys?limit=200`)
  type Key = { readonly id: ApiKeyId; readonly projectId: ProjectId }
  const keys = (body as { readonly data: readonly Key[] }).data.map(({ id, projectId }) => ({
    apiKeyId: id,
    projectId,
  }))
  const nowMs = Date.now()
  const times = [{ fromMs: nowMs - days * dayMs, toMs: nowMs - 5_000_000 }]
  const db = await openDatabase({ home: service.home, databaseUrl: null })
  // Prices were set in the pages; those of the random requests have ids of their own.
  await writeRandomRequests(db, { count: requests, seed: 22, organizationId, keys, times })
  await db.destroy()
}

async function countRows(service: Service): Promise<number> {
  const db = await openDatabase({ home: service.home, databaseUrl: null })
  const row = await db
    .selectFrom('ledger')
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  await db.destroy()
  return Number(row.count)
}

async function invite({ browser, service, owner, params }: Walk) {
  const within = `/api/v1/organizations/${params['organizationId']}`
  const { data } = (await askApi(owner.page, 'GET', `${within}/projects?limit=200`)).body as {
    readonly data: readonly { readonly id: string }[]
  }
  const wanted = { email: 'cy@example.com', role: 'developer', projectIds: data.map(({ id }) => id) }
  const invited = await askApi(owner.page, 'POST', `${within}/invitations`, wanted)
  const opened = await openDashboard(browser, service)
  await opened.page.goto((invited.body as { readonly link: string }).link)
  await opened.page.getByLabel('Your name').fill('Cy Diaz')
  await opened.page.getByRole('button', { name: 'Create passkey and join' }).click()
  await opened.page.getByRole('heading', { name: 'Home' }).waitFor()
  const session = (await askApi(opened.page, 'GET', '/api/v1/session')).body as {
    readonly memberships: readonly { readonly memberId: string }[]
  }
  return { opened, memberId: session.memberships[0]?.memberId ?? '' }
}

type Giving = { readonly organizationId: string; readonly memberId: string; readonly role: Role }

async function giveRole({ page }: Opened, { organizationId, memberId, role }: Giving): Promise<void> {
  const path = `/api/v1/organizations/${organizationId}/members/${memberId}`
  const { status, body } = await askApi(page, 'PATCH', path, { role })
  if (status !== 200) throw new Error(`The role ${role} was not given: ${JSON.stringify(body)}`)
}
