import type { Page } from 'playwright-core'

/** How far things jumped while a page came, as the browser counts it, and what jumped when it was the furthest. */
export type Shifts = { readonly sum: number; readonly furthest: readonly string[] }

type Shift = { readonly value: number; readonly parts: readonly string[] }
declare global {
  interface Window {
    shifts?: Shift[]
  }
}

export type Order = 'as asked' | 'backwards'

/** The rows to come stand after a fifth of a second, and a page asks for more within a moment of an answer. */
const quietMs = 500
/** So that each answer is drawn before the next one comes. */
const betweenMs = 60
const furthestMax = 4

/**
 * Has the answers of the API come late and one after the other, and each jump noted from the first picture on.
 *
 * They are held until the page asks for nothing more. A fixed delay would do the same, but then several answers are drawn
 * at once where the machine is busy, and what jumps depends on which.
 */
export async function slowDown(page: Page, order: Order): Promise<{ measure(address: string): Promise<Shifts> }> {
  const held: (() => Promise<void>)[] = []
  let lastAt = Date.now()
  await page.addInitScript(noteShifts)
  // The stream of changes has no end, and its first answer brings nothing that is drawn.
  await page.route(/\/api\/v1\/(?!events)/, (route) => {
    lastAt = Date.now()
    // A page that was left takes its questions back.
    held.push(() => route.continue().catch(() => {}))
  })
  const isQuiet = async () => {
    while (Date.now() - lastAt < quietMs) await page.waitForTimeout(quietMs / 10)
  }
  const release = async () => {
    await isQuiet()
    const now = held.splice(0)
    for (const answer of order === 'as asked' ? now : now.toReversed()) {
      await answer()
      await page.waitForTimeout(betweenMs)
    }
    lastAt = Date.now()
    return now.length > 0
  }
  return {
    async measure(address) {
      await page.goto(address)
      while ((await release()) || !(await isWhole(page)));
      const shifts = (await page.evaluate(() => window.shifts)) ?? []
      const furthest = shifts.toSorted((one, other) => other.value - one.value).slice(0, furthestMax)
      return {
        sum: shifts.reduce((sum, { value }) => sum + value, 0),
        furthest: furthest.map(({ value, parts }) => `${value.toFixed(3)}: ${parts.join('; ')}`),
      }
    },
  }
}

/** Nothing is still to come, which a page that has not begun cannot say. */
function isWhole(page: Page): Promise<boolean> {
  return page.evaluate(
    () =>
      document.querySelector('h1') !== null && document.querySelector('[role="status"][aria-label="Loading"]') === null,
  )
}

/** Runs in the page, before anything of it does. */
function noteShifts(): void {
  type Source = { readonly node: Node | null; readonly previousRect: DOMRect; readonly currentRect: DOMRect }
  type Entry = PerformanceEntry & { readonly value: number; readonly sources: readonly Source[] }
  const shifts: Shift[] = []
  window.shifts = shifts
  const nameOf = (node: Node | null) =>
    node instanceof Element ? `${node.tagName} “${(node.textContent ?? '').slice(0, 30)}”` : (node?.textContent ?? '–')
  const placeOf = ({ x, y, width, height }: DOMRect) => [x, y, width, height].map((one) => Math.round(one)).join(' ')
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries() as Entry[]) {
      const parts = sources.map(
        ({ node, previousRect, currentRect }) =>
          `${nameOf(node)} from ${placeOf(previousRect)} to ${placeOf(currentRect)}`,
      )
      shifts.push({ value, parts })
    }
  }).observe({ type: 'layout-shift', buffered: true })
}
