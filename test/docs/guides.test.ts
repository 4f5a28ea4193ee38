// The guides as the dashboard serves them: every file has its place, and every link leads somewhere.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { guideGroups, slugOf } from '../../web/guides/guide-list.ts'
import { plainText, readGuide } from '../../web/guides/read-guide.ts'
import { isDocument, writeDocuments } from '../../web/guides/write-documents.ts'
import { paths } from '../../web/src/app/paths.ts'
import type { Block, Guide, Inline } from '../../web/src/lib/guide.ts'

const folder = join(import.meta.dirname, '../../docs')
/** Written for who works on the program, but for the page on weights: it names what may stand behind the models. */
const notServed = /^(?:ARCHITECTURE\.md|models\.md|decisions\/)/

const picturesBytesMax = 1_500_000

const files = guideGroups.flatMap((group) => group.files)
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const guides = new Map(files.map((file) => [slugOf(file), readGuide(file, read)]))

test('every page for operators and customers is served as a guide, once', () => {
  const written = globSync('**/*.md', { cwd: folder }).map((file) => file.replaceAll('\\', '/'))
  const wanted = written.filter((file) => !notServed.test(file))
  deepEqual(files.toSorted(), wanted.toSorted())
  equal(guides.size, files.length)
})

test('nothing stands twice in the table of contents', () => {
  const titles = [...guideGroups.map(({ title }) => title), ...[...guides.values()].map(({ title }) => title)]
  deepEqual(
    titles.filter((title, at) => titles.indexOf(title) !== at),
    [],
  )
})

test('every link of a guide leads to a guide, and to a heading that it has', () => {
  for (const [slug, guide] of guides) {
    for (const href of guide.blocks.flatMap(linksOf)) {
      const [, target = '', anchor] = /^\/docs\/guides\/([^#]*)(?:#(.*))?$/.exec(href) ?? []
      if (href.startsWith('https:')) continue
      ok(guides.has(target), `${slug} links to ${href}`)
      if (anchor !== undefined) ok(anchorsOf(guides.get(target)).includes(anchor), `${slug} links to ${href}`)
    }
  }
})

test('every document stands as a text in its own page, with the way to each guide, for who runs no program', () => {
  const shell = readFileSync(join(import.meta.dirname, '../../web/index.html'), 'utf8')
  const documents = writeDocuments(shell, '/assets/style.css')
  const others = Object.values(paths).filter((path) => isDocument(path) && !path.includes(':'))
  const wanted = [...others, '/docs/not-found', ...[...guides.keys()].map((slug) => `/docs/guides/${slug}`)]
  deepEqual([...documents.keys()].map((path) => `/${path}`).toSorted(), wanted.toSorted())
  for (const [path, html] of documents) {
    for (const slug of guides.keys()) ok(html.includes(`<a href="/docs/guides/${slug}"`), `${path}: ${slug}`)
    equal([...html.matchAll(/<h1>/g)].length, 1, path)
    ok(html.includes('<div id="root"></div>'), path)
  }
  const running = documents.get('docs/guides/running') ?? ''
  ok(running.includes('<title>Running Odyssey · Odyssey</title>'))
  ok(running.includes('npm start</code>'))
  ok(documents.get('docs/errors')?.includes('rate_limit'))
})

test('every picture that a page shows is there and shown, and a clone fetches little for all of them', () => {
  const pages = globSync('**/*.md', { cwd: folder }).map((file) => file.replaceAll('\\', '/'))
  const shown = pages.flatMap((file) =>
    [...read(file).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, href = '']) => join(folder, file, '..', href)),
  )
  const made = globSync('pictures/*', { cwd: folder }).map((file) => join(folder, file))
  deepEqual([...new Set(shown)].toSorted(), made.toSorted())
  const bytes = made.reduce((sum, file) => sum + statSync(file).size, 0)
  ok(bytes < picturesBytesMax, `${bytes} bytes`)
})

test('a link between guides becomes that of a page, by its title where a file was named, and one to what is not served leaves its words, or says where the file is', () => {
  const written = {
    'operations/running.md':
      '# Running `it`\n\nSee [storage.md](storage.md#files), [weights](../models.md), [models.md](../models.md) and [that](https://example.com/).\n',
    'operations/storage.md': '# Where it is kept\n',
  }
  const { title, blocks } = readGuide('operations/running.md', (file) => written[file as keyof typeof written])
  equal(title, 'Running it')
  deepEqual(blocks, [
    {
      kind: 'text',
      text: [
        'See ',
        { kind: 'link', href: '/docs/guides/storage#files', text: ['Where it is kept'] },
        ', ',
        'weights',
        ', ',
        'docs/models.md in the program’s folder',
        ' and ',
        { kind: 'link', href: 'https://example.com/', text: ['that'] },
        '.',
      ],
    },
  ])
})

test('headings that say the same have anchors of their own, as the hosts of repositories make them', () => {
  const { blocks } = readGuide('dashboard.md', () => '# A\n\n## What’s “new”, in 2?\n\n## Same\n\n### Same\n')
  const ids = blocks.flatMap((block) => (block.kind === 'heading' ? [block.id] : []))
  deepEqual(ids, ['whats-new-in-2', 'same', 'same-1'])
})

test('text is shown as it was written, whatever it holds', () => {
  const { blocks } = readGuide('dashboard.md', () => '# A\n\nIf a < b && `c < d`: "so" \\*\n\n- one\n  - two\n')
  const [first, list] = blocks
  equal(first?.kind === 'text' && plainText(first.text), 'If a < b && c < d: "so" *')
  deepEqual(list, {
    kind: 'list',
    isOrdered: false,
    items: [
      [
        { kind: 'text', text: ['one'] },
        { kind: 'list', isOrdered: false, items: [[{ kind: 'text', text: ['two'] }]] },
      ],
    ],
  })
})

function linksOf(block: Block): string[] {
  switch (block.kind) {
    case 'heading':
    case 'text':
      return block.text.flatMap(linksIn)
    case 'code':
      return []
    case 'list':
      return block.items.flat().flatMap(linksOf)
    case 'table':
      return [block.head, ...block.rows].flat(2).flatMap(linksIn)
    case 'quote':
      return block.blocks.flatMap(linksOf)
  }
}

function linksIn(inline: Inline): string[] {
  if (typeof inline === 'string' || inline.kind === 'code') return []
  return [...(inline.kind === 'link' ? [inline.href] : []), ...inline.text.flatMap(linksIn)]
}

function anchorsOf(guide: Guide | undefined): string[] {
  return guide?.blocks.flatMap((block) => (block.kind === 'heading' ? [block.id] : [])) ?? []
}
