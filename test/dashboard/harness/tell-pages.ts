import type { Browser, Page } from 'playwright-core'

const pageCharactersMax = 4_000
const askedMsMax = 5_000

/** What a test run says of one of its tests once it has ended. */
type Ended = { readonly error?: (Error & { readonly cause?: unknown }) | null }

/** Adds to the error of a test that failed what each open page shows: a wait that ended says only what did not come. */
export async function tellPages({ error }: Ended, browser: Browser): Promise<void> {
  const cause = error?.cause
  if (!(cause instanceof Error)) return
  const pages = browser.contexts().flatMap((context) => context.pages())
  const told = await Promise.all(
    pages.map((page) => tell(page).catch((reason: unknown) => `${page.url()}: ${String(reason)}`)),
  )
  cause.stack = [cause.stack, ...told].join('\n\n')
}

/** The layers that are open, or else the page's own part, in the words that readers of the screen are told. */
async function tell(page: Page): Promise<string> {
  const focused = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200))
  const layers = page.locator('[role="dialog"], [role="alertdialog"]')
  const shown = (await layers.count()) > 0 ? layers : page.locator('main, body').last()
  const parts = await Promise.all((await shown.all()).map((part) => part.ariaSnapshot({ timeout: askedMsMax })))
  return `${page.url()} has the focus on ${focused} and shows:\n${parts.join('\n').slice(0, pageCharactersMax)}`
}
