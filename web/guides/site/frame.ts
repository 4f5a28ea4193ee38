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

/** A whole page. There is no script in it, and no page needs one but to be searched. */
export function writePage({ file, title, content }: SitePage, entries: readonly GuideEntry[]): string {
  const link = (target: string, text: string) =>
    `<a href="${wayTo(target, file)}"${target === file ? ' aria-current="page"' : ''}>${escapeXml(text)}</a>`
  const groups = [...new Set(entries.map(({ group }) => group))].map((group) => {
    const guides = entries.filter((entry) => entry.group === group)
    const items = guides.map(({ slug, title: name }) => `<li>${link(`guides/${slug}.html`, name)}</li>`)
    return `<h2>${escapeXml(group)}</h2><ul>${items.join('')}</ul>`
  })
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
<a class="skip" href="#main">Skip to the page</a>
<header>
<strong>Odyssey</strong>
<nav aria-label="Documents">${above.map(([target, name]) => link(target, name)).join('')}</nav>
<form role="search" aria-label="Guides" hidden><label>Find <input type="search" name="q" autocomplete="off"></label></form>
</header>
<div class="columns">
<nav class="contents" aria-label="Guides">${groups.join('')}</nav>
<main id="main" tabindex="-1">
<section class="found" aria-label="Found" hidden><p role="status"></p><ul></ul></section>
<article>
<h1>${escapeXml(title)}</h1>
${content}
</article>
</main>
</div>
</body>
</html>
`
}
