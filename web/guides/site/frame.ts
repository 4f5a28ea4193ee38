import { escapeXml } from '../../../src/lib/xml/write-xml.ts'
import type { GuideEntry } from '../../src/lib/guide.ts'

/** A page of the static site. */
export type SitePage = {
  /** Its file, from the folder of the site. */
  readonly file: string
  readonly title: string
  /** What stands below the title, as HTML. */
  readonly content: string
}

/** What stands above every page, and by which file each of them is. */
const above: readonly (readonly [file: string, title: string])[] = [
  ['index.html', 'Guides'],
  ['reference/models.html', 'Models API'],
  ['reference/management.html', 'Management API'],
  ['guides/customers-errors.html', 'Errors'],
]

/** The way from one file of the site to another, so that it works in any folder, on any server and from a disk. */
export function wayTo(target: string, from: string): string {
  return '../'.repeat(from.split('/').length - 1) + target
}

/** Where the other pages are, and how a page links to them. */
export type Ways = {
  /** What stands above every page. */
  readonly above: readonly (readonly [target: string, title: string])[]
  readonly entries: readonly GuideEntry[]
  readonly guideAt: (slug: string) => string
  readonly wayTo: (target: string) => string
}

type Text = Omit<SitePage, 'file'> & {
  /** The page's own place among those that are linked to. */
  readonly target: string
  /** A form to search with, and where what it finds is shown. */
  readonly search?: { readonly form: string; readonly found: string }
}

/** What is in a page: its text, and around it the ways to all others. */
export function writeBody({ target, title, content, search }: Text, ways: Ways): string {
  const link = (to: string, text: string) =>
    `<a href="${ways.wayTo(to)}"${to === target ? ' aria-current="page"' : ''}>${escapeXml(text)}</a>`
  const groups = [...Map.groupBy(ways.entries, ({ group }) => group)].map(([group, guides]) => {
    const items = guides.map(({ slug, title: name }) => `<li>${link(ways.guideAt(slug), name)}</li>`)
    return `<h2>${escapeXml(group)}</h2><ul>${items.join('\n')}</ul>`
  })
  return `<a class="skip" href="#main">Skip to the page</a>
<header>
<strong>Odyssey</strong>
<nav aria-label="Documents">${ways.above.map(([to, name]) => link(to, name)).join('\n')}</nav>
${search?.form ?? ''}
</header>
<div class="columns">
<nav class="contents" aria-label="Guides">${groups.join('\n')}</nav>
<main id="main" tabindex="-1">
${search?.found ?? ''}
<article>
<h1>${escapeXml(title)}</h1>
${content}
</article>
</main>
</div>`
}

const search = {
  form: '<form role="search" aria-label="Guides" hidden><label>Find <input type="search" name="q" autocomplete="off"></label></form>',
  found: '<section class="found" aria-label="Found" hidden><p role="status"></p><ul></ul></section>',
}

/** A whole page. There is no script in it, and no page needs one but to be searched. */
export function writePage({ file, title, content }: SitePage, entries: readonly GuideEntry[]): string {
  const ways: Ways = {
    above,
    entries,
    guideAt: (slug) => `guides/${slug}.html`,
    wayTo: (target) => wayTo(target, file),
  }
  return `<!doctype html>
<html lang="en" data-base="${wayTo('', file)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(title)} · Odyssey</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${wayTo('site.css', file)}">
<script defer src="${wayTo('find.js', file)}"></script>
</head>
<body>
${writeBody({ target: file, title, content, search }, ways)}
</body>
</html>
`
}
