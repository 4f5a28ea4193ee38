// Looks for words in the guides, on a page of the static site. All that is said is in this file: pages that are opened
// from a disk may fetch nothing.

import { searchGuides } from '../../src/app/docs/search-guides.ts'

const base = document.documentElement.dataset['base'] ?? ''
const form = document.querySelector('form')
const field = document.querySelector('input')
const found = document.querySelector<HTMLElement>('.found')
const status = found?.querySelector('p')
const list = found?.querySelector('ul')
const article = document.querySelector('article')

if (form && field && found && status && list && article) void start({ form, field, found, status, list, article })

type Parts = {
  readonly form: HTMLFormElement
  readonly field: HTMLInputElement
  readonly found: HTMLElement
  readonly status: HTMLElement
  readonly list: HTMLElement
  readonly article: HTMLElement
}

async function start({ form, field, found, status, list, article }: Parts): Promise<void> {
  const find = await searchGuides()
  const show = () => {
    const q = field.value.trim()
    found.hidden = q === ''
    article.hidden = q !== ''
    const places = q === '' ? [] : find(q)
    status.textContent = places.length === 0 ? 'Nothing is said of that.' : `${places.length} places`
    list.replaceChildren(
      ...places.map(({ slug, anchor, title, guide }) => {
        const link = document.createElement('a')
        link.href = `${base}guides/${slug}.html${anchor === '' ? '' : `#${anchor}`}`
        link.textContent = title
        // A place on this very page is behind what was found.
        link.addEventListener('click', () => {
          field.value = ''
          show()
        })
        const item = document.createElement('li')
        item.append(link, anchor === '' ? '' : ` · ${guide}`)
        return item
      }),
    )
  }
  field.addEventListener('input', show)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    list.querySelector('a')?.click()
  })
  // It is there only where it works.
  form.hidden = false
}
