import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { chromium as playwright, type Browser, type BrowserContext, type Page } from 'playwright-core'

const folder = join(import.meta.dirname, '../../../node_modules/.cache/browser')

/** A real browser, which is part of a package: nothing has to be installed on the machine. */
export async function openBrowser(moreArguments: readonly string[] = []): Promise<Browser> {
  if (!existsSync(folder)) unpackBrowser()
  // What the package would set switches safeguards off that are to be tested.
  const args = [
    '--headless=shell',
    '--no-sandbox',
    '--no-zygote',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    ...moreArguments,
  ]
  const browser = await playwright.launch({ executablePath: join(folder, 'chromium'), args })
  closeQuietly(browser)
  return browser
}

/**
 * Has a browser forget what answers in place of the service before anything closes.
 *
 * An answer that a test is still changing when the page is gone would else be an error that belongs to no test, and fail
 * the file as a whole.
 */
function closeQuietly(browser: Browser): void {
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (...options) => {
    const context = await newContext(...options)
    context.on('page', answerOnce)
    const close = context.close.bind(context)
    context.close = async (...reason) => {
      forgetRoutes(context)
      await close(...reason)
    }
    return context
  }
  const close = browser.close.bind(browser)
  browser.close = async (...reason) => {
    for (const context of browser.contexts()) forgetRoutes(context)
    await close(...reason)
  }
}

/**
 * Has a page pass over an answer to what was answered meanwhile: who takes a route back has the browser answer what is held,
 * also where the test is still changing the service's own answer.
 */
function answerOnce(page: Page): void {
  const route = page.route.bind(page)
  page.route = (url, handler, options) =>
    route(
      url,
      async (...asked) => {
        try {
          await handler(...asked)
        } catch (error) {
          if (!String(error).includes('Route is already handled')) throw error
        }
      },
      options,
    )
}

/** It is not waited for: the browser first gets an answer to each request that is held, and some tests hold one for ever. */
function forgetRoutes(context: BrowserContext): void {
  for (const routed of [context, ...context.pages()]) routed.unrouteAll({ behavior: 'ignoreErrors' }).catch(() => {})
}

/**
 * Once for each installation. The package unpacks into the folder for temporary files, where other users' files are too.
 *
 * Another process does it: what else this one makes in the meantime, a service's data folder for one, must not be made
 * in a folder that is renamed afterwards.
 */
function unpackBrowser(): void {
  const unpacking = `${folder}.${process.pid}`
  mkdirSync(unpacking, { recursive: true })
  const program = `const { default: chromium } = await import(${JSON.stringify(import.meta.resolve('@sparticuz/chromium'))})
    await chromium.executablePath()`
  execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, TMPDIR: unpacking },
    stdio: 'inherit',
  })
  try {
    renameSync(unpacking, folder)
  } catch (error) {
    // Another process was faster.
    rmSync(unpacking, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}
