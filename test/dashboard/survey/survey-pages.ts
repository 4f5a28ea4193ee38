import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { pagePath, type PageName } from '../../../web/src/app/paths.ts'
import { routes } from '../../../web/src/app/route-table.ts'
import { settled } from '../harness/ask.ts'
import { findFaults, fitsItsWidth, widestOf } from '../harness/find-faults.ts'
import { openLayers } from './open-layers.ts'

const sizes = [
  { width: 390, height: 844 },
  { width: 1_280, height: 800 },
  { width: 1_920, height: 1_080 },
] as const
const themes = ['light', 'dark'] as const

/** What the service says, or does not say, while a page is looked at. */
const states = ['error', 'nothing', 'no answer', 'waiting'] as const
type State = (typeof states)[number]

type Survey = {
  readonly page: Page
  readonly origin: string
  readonly params: Readonly<Record<string, string>>
  readonly folder: string
  /** Only pages with one of these names; all where there are none. */
  readonly wanted: readonly string[]
}

/**
 * Every page at three sizes in two themes, in each state and with each of its layers open: a picture of it at rest, and
 * what breaks a rule of accessibility, is too wide or fails. Resolves with what was found.
 */
export async function surveyPages(survey: Survey): Promise<readonly string[]> {
  const { page, origin, params, folder, wanted } = survey
  mkdirSync(folder, { recursive: true })
  const found: string[] = []
  let looks = 0
  const look = async (where: string, selector: string | null = null) => {
    looks += 1
    const faults = (await findFaults(page, selector)).map((fault) => `${where}: ${fault}`)
    if (!(await fitsItsWidth(page))) faults.push(`${where}: too wide: ${await widestOf(page)}`)
    for (const fault of faults) console.log(fault)
    found.push(...faults)
  }
  const names = (Object.keys(routes) as PageName[]).filter(
    (name) => name !== 'start' && routes[name].needs !== 'public' && (wanted.length === 0 || wanted.includes(name)),
  )
  for (const name of names) {
    const address = origin + pagePath(name, params)
    await open(page, address)
    for (const viewport of sizes) {
      await page.setViewportSize(viewport)
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await look(`${name} ${viewport.width} ${colorScheme}`)
        await page.screenshot({ path: join(folder, `${name}-${viewport.width}-${colorScheme}.png`) })
      }
    }
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce', forcedColors: 'active' })
    await look(`${name} in forced colors`)
    await page.screenshot({ path: join(folder, `${name}-forced-colors.png`) })
    await page.emulateMedia({ forcedColors: 'none' })
    for (const viewport of [sizes[0], sizes[1]]) {
      await page.setViewportSize(viewport)
      for (const state of states) {
        await withState(page, state, async () => {
          await page.goto(address)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await page.waitForTimeout(state === 'waiting' ? 400 : 300)
          await look(`${name} ${viewport.width} ${state}`)
          await page.screenshot({ path: join(folder, `${name}-${viewport.width}-${state.replace(' ', '-')}.png`) })
        })
      }
      await open(page, address)
      found.push(...(await openLayers(page, (layer, selector) => look(`${name} ${viewport.width} ${layer}`, selector))))
    }
  }
  console.log(`${names.length} pages, ${looks} looks, ${found.length} faults`)
  return found
}

async function open(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await settled(page)
}

/** Has the service say something else to what the page reads; who has signed in is answered as ever. */
async function withState(page: Page, state: State, work: () => Promise<void>): Promise<void> {
  const within = /\/api\/v1\/(?!session$|session\?|events)/
  await page.route(within, async (route) => {
    if (route.request().method() !== 'GET' || state === 'waiting') return
    if (state === 'no answer') return route.abort('connectionrefused')
    if (state === 'nothing') return answerNothing(route)
    const instance = 'req_0000000000000000000000'
    const type = 'urn:odyssey:problem:internal'
    const body = JSON.stringify({ type, title: 'Internal', status: 500, detail: 'Something failed.', instance })
    await route.fulfill({ status: 500, contentType: 'application/problem+json', body })
  })
  try {
    await work()
  } finally {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }
}

/** Lists are empty; what is no list stays as the service gives it. */
async function answerNothing(route: Parameters<Parameters<Page['route']>[1]>[0]): Promise<void> {
  const response = await route.fetch()
  const body = (await response.json().catch(() => null)) as { data?: unknown } | null
  if (body === null || !Array.isArray(body.data)) return route.fulfill({ response })
  await route.fulfill({ response, json: { ...body, data: [], next: null } })
}
