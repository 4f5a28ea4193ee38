import type { Page } from 'playwright-core'
import { settled } from '../harness/ask.ts'

const layers = '[role="dialog"], [role="alertdialog"], [role="menu"]'
const layerMs = 400

/**
 * Opens each layer that a page has, has it looked at and closes it by the keyboard. Resolves with what did not give the
 * focus back to where it came from.
 */
export async function openLayers(
  page: Page,
  look: (name: string, selector: string) => Promise<void>,
): Promise<readonly string[]> {
  const found: string[] = []
  const buttons = page.locator(
    'main button:visible:not([aria-disabled="true"]):not([disabled]):not([aria-pressed]):not([role]), header button:visible',
  )
  const names = await buttons.evaluateAll((all) =>
    all.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? ''),
  )
  const seen = new Set<string>()
  for (const [index, name] of names.entries()) {
    // The actions of each row are the same.
    const kind = name.replace(/^Actions for .*/, 'Actions')
    if (seen.has(kind) || /^(?:Copy|Sign out|Reload)/.test(kind)) continue
    seen.add(kind)
    const address = page.url()
    const button = buttons.nth(index)
    if (!(await button.isVisible())) continue
    await button.focus()
    await page.keyboard.press('Enter')
    const layer = page.locator(layers).last()
    if (await isThere(page)) {
      await look(`with ${kind} open`, layers)
      await page.keyboard.press('Escape')
      await layer
        .waitFor({ state: 'detached', timeout: 2_000 })
        .catch(() => found.push(`${kind}: Escape leaves it open.`))
      const isBack = await button.evaluate((element) => document.activeElement === element).catch(() => false)
      if (!isBack) found.push(`${address} ${kind}: the focus did not come back.`)
    }
    if (page.url() !== address || (await isThere(page))) {
      await page.goto(address)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
    }
  }
  for (const fault of found) console.log(fault)
  return found
}

async function isThere(page: Page): Promise<boolean> {
  await page.waitForTimeout(layerMs / 4)
  return (await page.locator(layers).count()) > 0
}
