import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** Those of them that look at colours, which are all that a theme changes. */
export const themeRules = ['color-contrast', 'link-in-text-block']

type Found = {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/**
 * What of a page breaks a rule of accessibility.
 *
 * With a selector only that part is looked at: a menu that is open hides its surroundings from readers, which the rules
 * take for a fault of the surroundings.
 */
export async function findFaults(
  page: Page,
  selector: string | null = null,
  runOnly: readonly string[] = rules,
): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(
    async ([tags, part]) => {
      const { axe: run } = globalThis as unknown as {
        readonly axe: { run(root: unknown, options: unknown): Promise<Found> }
      }
      const context = { include: part === null ? 'html' : part, exclude: '[data-base-ui-focus-guard]' }
      const { violations } = await run.run(context, { runOnly: tags })
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
    },
    [runOnly, selector] as const,
  )
}

/** Whether nothing of the page lies beyond its right edge. */
export function fitsItsWidth(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)
}

/** The tables that have to be scrolled to the side, which on a phone none is: there each row stands below the other. */
export function widerTables(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('table')].flatMap((table) => {
      const frame = table.parentElement
      if (frame === null || frame.scrollWidth <= frame.clientWidth + 1) return []
      const { right } = frame.getBoundingClientRect()
      const beyond = [...table.querySelectorAll('td, th')].find((cell) => cell.scrollWidth > right)
      return [`${table.caption?.textContent}: ${(beyond ?? table).outerHTML.slice(0, 200)}`]
    }),
  )
}

/** What reaches furthest beyond the right edge, for the message of a test that found the page too wide. */
export function widestOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const isBeyond = (element: Element) => element.getBoundingClientRect().right > window.innerWidth
    const beyond = [...document.querySelectorAll('body *')].filter(isBeyond)
    const innermost = beyond.filter((element) => !beyond.some((other) => other !== element && element.contains(other)))
    return innermost
      .map((element) => element.outerHTML.slice(0, 200))
      .slice(0, 3)
      .join('\n')
  })
}
