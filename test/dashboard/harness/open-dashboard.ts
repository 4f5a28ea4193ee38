import type { Browser, BrowserContext, Page } from 'playwright-core'
import { runCli } from '../../harness/run-cli.ts'
import type { Service } from '../../harness/start-service.ts'

export type Person = { readonly name: string; readonly email: string }
export const ann: Person = { name: 'Ann Lee', email: 'ann@example.com' }

/** A page with a passkey device of its own, at the address where passkeys work. What its console says as an error is kept. */
export type Opened = {
  readonly page: Page
  readonly context: BrowserContext
  readonly origin: string
  readonly faults: string[]
}

type Look = {
  readonly colorScheme?: 'light' | 'dark'
  readonly viewport?: { readonly width: number; readonly height: number }
}

export async function openDashboard(
  browser: Browser,
  service: Pick<Service, 'address'>,
  look: Look = {},
): Promise<Opened> {
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    viewport: { width: 1_280, height: 800 },
    ...look,
  })
  // It only bounds a test that hangs: on a busy machine a page takes many times as long as on a quiet one.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  waitForLayers(page)
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => {
    // Refusals are part of what is tested; breaches of the content policy and failures of the program are not.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text())
  })
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const
  await devtools.send('WebAuthn.addVirtualAuthenticator', { options })
  return { page, context, origin: service.address.replace('127.0.0.1', 'localhost'), faults }
}

/**
 * Has the page opened anew only when no step of its history is being taken back.
 *
 * A layer that has closed takes its step back a moment later, which would break off the opening of another address. People
 * are not that quick, and the program's own links wait for it.
 */
function waitForLayers(page: Page): void {
  const goto = page.goto.bind(page)
  page.goto = async (...args) => {
    await page.waitForFunction(() => {
      const depth = (history.state as { readonly layer?: number } | null)?.layer ?? 0
      return depth === 0 || document.querySelector('[role="dialog"][data-open]') !== null
    })
    return goto(...args)
  }
}

/** Follows the link for the first owner, as the command prints it, and makes a passkey. Ends at the first key. */
export async function setUp(
  { page }: Opened,
  { home }: Pick<Service, 'home'>,
  { name, email }: Person = ann,
): Promise<void> {
  const printed = await runCli({ home }, 'owners', 'link', '--json')
  await page.goto((JSON.parse(printed) as { readonly link: string }).link)
  await page.getByLabel('Your name').fill(name)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Organization').fill('Acme')
  await page.getByRole('button', { name: 'Create passkey and continue' }).click()
  await page.getByRole('heading', { name: 'Quickstart' }).waitFor()
  // The page is shown a moment before its address is.
  await page.waitForURL(({ pathname }) => pathname.endsWith('/quickstart'))
  await page.getByText('This is the only time the key is shown').waitFor()
}

/** The first membership of whoever is signed in there. */
export async function memberIdOf(page: Page): Promise<string> {
  const memberships = await page.evaluate(async () => {
    const answer = (await (await fetch('/api/v1/session')).json()) as {
      readonly memberships: readonly { readonly memberId: string }[]
    }
    return answer.memberships
  })
  return memberships[0]?.memberId ?? ''
}

/** The organization that the page shows. */
export function organizationOf({ page }: Opened): string {
  return /\/o\/([^/]+)/.exec(page.url())?.[1] ?? ''
}
