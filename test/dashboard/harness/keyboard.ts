// What somebody does who has no pointer: every stop of the focus has to be seen, and every control has to be reached.

import { ok } from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

/** More than any page has. */
const stopsMax = 200

type Stop = { readonly what: string; readonly isSeen: boolean }

/** Goes on by Tab until the focus is on a control. Fails where it stops at something that does not show it. */
export async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.waitFor()
  for (let stops = 0; stops < stopsMax; stops += 1) {
    if (await isFocused(target)) return
    await page.keyboard.press(key)
    const { what, isSeen } = await page.evaluate(readStop)
    ok(isSeen, `The focus is not to be seen on ${what}.`)
  }
  throw new Error(`The focus does not come to ${String(target)}.`)
}

/** Presses a control that the focus is brought to. */
export async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press('Enter')
}

/** Types into a field that the focus is brought to, in place of what is there. */
export async function typeInto(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

/** Opens a menu and goes down to one of its entries. */
export async function chooseFrom(page: Page, menu: Locator, entry: string | RegExp): Promise<void> {
  await press(page, menu)
  const wanted = page.getByRole('menuitem', { name: entry }).first()
  await wanted.waitFor()
  for (let step = 0; !(await isFocused(wanted)); step += 1) {
    ok(step < 20, `The arrows do not come to ${String(entry)}.`)
    await page.keyboard.press('ArrowDown')
  }
  await page.keyboard.press('Enter')
}

/** Goes to a page by a few letters of its name, which works with single keys switched off as well. */
export async function findPage(page: Page, title: string): Promise<void> {
  const palette = page.getByRole('dialog', { name: 'Find' })
  await page.keyboard.press('Control+k')
  await palette.getByRole('combobox').and(page.locator(':focus')).waitFor()
  await page.keyboard.type(title)
  await palette.getByRole('option', { name: title }).first().waitFor()
  await page.keyboard.press('Enter')
  await palette.waitFor({ state: 'detached' })
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
}

function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement)
}

/** Where the focus is. Guards that keep it within a layer hand it on at once, and the page itself is where it begins. */
function readStop(): Stop {
  const element = document.activeElement
  if (!(element instanceof HTMLElement) || element === document.body) return { what: 'the page', isSeen: true }
  if (element.hasAttribute('data-base-ui-focus-guard')) return { what: 'a guard', isSeen: true }
  // A date's parts take the focus one after the other, and the browser marks the part.
  if (element.matches('input[type^="date"]')) return { what: 'a part of a date', isSeen: true }
  const isOutlined = (one: Element | null) => {
    if (one === null) return false
    const { outlineStyle, outlineWidth, visibility } = getComputedStyle(one)
    const { width, height } = one.getBoundingClientRect()
    return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 && visibility === 'visible' && width * height > 0
  }
  // A field with a picture in front of it has its edge around both.
  const isSeen = isOutlined(element) || isOutlined(element.parentElement)
  return { what: element.outerHTML.slice(0, 200), isSeen }
}
