// What was typed and not sent: leaving its page asks first, and nothing else does.

import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Dialog, Page } from 'playwright-core'
import { baseOf } from '../../harness/ask.ts'
import type { Dashboard } from '../../harness/use-dashboard.ts'

type Questions = {
  /** What was asked of the reader, by kind, since this was read last. */
  take(): readonly string[]
  answer(isYes: boolean): void
}

/** Answers what the browser asks, and keeps it. */
function answerQuestions(page: Page): Questions & Disposable {
  let asked: string[] = []
  let isLeft = false
  const answer = (dialog: Dialog) => {
    asked.push(dialog.type())
    void (isLeft ? dialog.accept() : dialog.dismiss())
  }
  page.on('dialog', answer)
  return {
    take() {
      const taken = asked
      asked = []
      return taken
    },
    answer: (isYes) => (isLeft = isYes),
    [Symbol.dispose]: () => void page.off('dialog', answer),
  }
}

const refusal = { type: 'urn:odyssey:problem:conflict', title: 'Conflict', status: 409, detail: 'Changed meanwhile.' }

export function unsavedSuite(dashboard: () => Dashboard): void {
  const open = async () => {
    const { page } = dashboard().owner
    await page.goto(`${baseOf(dashboard())}/projects`)
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    const contact = page.getByLabel('Who is asked for higher limits')
    await contact.waitFor()
    await page.waitForURL(({ pathname }) => pathname.endsWith('/settings'))
    return { page, contact, was: await contact.inputValue() }
  }
  const isAt = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

  suite('a form with something typed into it', () => {
    test('is not left by a link, by the way back or with its tab unless the reader says so', async () => {
      const { page, contact } = await open()
      using questions = answerQuestions(page)
      await contact.fill('kept@example.com')
      await page.getByRole('link', { name: 'Budgets', exact: true }).click()
      await page.goBack()
      await page.waitForURL(({ pathname }) => pathname.endsWith('/settings'))
      equal(questions.take().join(), 'confirm,confirm')
      equal(await contact.inputValue(), 'kept@example.com')
      await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })])
      equal(questions.take().join(), 'beforeunload')
      equal(page.isClosed(), false)
      questions.answer(true)
      await page.goBack()
      await isAt(page, 'Projects')
      equal(questions.take().join(), 'confirm')
    })

    test('asks nothing when it was set back to what it was, or was saved', async () => {
      const { page, contact, was } = await open()
      using questions = answerQuestions(page)
      await contact.fill('other@example.com')
      await contact.fill(was)
      await page.getByRole('link', { name: 'Budgets', exact: true }).click()
      await isAt(page, 'Budgets')
      await page.getByRole('link', { name: 'Settings', exact: true }).click()
      await contact.fill('saved@example.com')
      const saved = page.waitForResponse((response) => response.request().method() === 'PATCH')
      await page.getByRole('button', { name: 'Save rules' }).click()
      equal((await saved).status(), 200)
      await page.getByRole('button', { name: 'Save rules', disabled: true }).waitFor()
      await page.getByRole('link', { name: 'Budgets', exact: true }).click()
      await isAt(page, 'Budgets')
      // The page is shown a moment before its address is.
      await page.waitForURL(({ pathname }) => pathname.endsWith('/budgets'))
      await page.reload()
      await isAt(page, 'Budgets')
      equal(questions.take().join(), '')
    })

    test('still asks after what it sent was refused', async () => {
      const { page, contact } = await open()
      using questions = answerQuestions(page)
      await page.route('**/settings', (route) =>
        route.request().method() === 'PATCH' ? route.fulfill({ status: 409, json: refusal }) : route.continue(),
      )
      await contact.fill('refused@example.com')
      await page.getByRole('button', { name: 'Save rules' }).click()
      await page.getByText(refusal.detail).waitFor()
      await page.unroute('**/settings')
      await page.getByRole('link', { name: 'Budgets', exact: true }).click()
      equal(questions.take().join(), 'confirm')
      questions.answer(true)
      await page.getByRole('link', { name: 'Budgets', exact: true }).click()
      await isAt(page, 'Budgets')
    })

    test('beside the page is kept from the way back and from a click beside it, and closed by its own buttons', async () => {
      const { page } = await open()
      await page.getByRole('link', { name: 'Limits', exact: true }).click()
      await page.getByRole('button', { name: 'Set limit' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Set limit' })
      using questions = answerQuestions(page)
      await drawer.getByLabel('Input tokens a minute').fill('7')
      await page.goBack()
      await page.waitForFunction(() => history.state !== null)
      equal(questions.take().join(), 'confirm')
      await page.mouse.click(5, 400)
      equal(questions.take().join(), 'confirm')
      equal(await drawer.getByLabel('Input tokens a minute').inputValue(), '7')
      await drawer.getByRole('button', { name: 'Close' }).click()
      await drawer.waitFor({ state: 'detached' })
      equal(questions.take().join(), '')
    })
  })
}
