import { escapeXml } from '../../src/lib/xml/write-xml.ts'
import { documentList } from '../src/app/docs/document-list.ts'
import { pagePath, paths } from '../src/app/paths.ts'
import { readGuides } from './read-guides.ts'
import { writeBody, type Ways } from './site/frame.ts'
import { writeGuide } from './site/write-guide.ts'

const guideAt = (slug: string) => pagePath('docsGuide', { guide: slug })
const link = (href: string, text: string) => `<a href="${href}">${text}</a>`

/** Whether an address is one of documents, of which the service answers with a text each. */
export function isDocument(path: string): boolean {
  return path === paths.docsGuides || path.startsWith(`${paths.docsGuides}/`)
}

/**
 * The pages of all documents by their addresses, without the slash that these begin with, and of an address that has
 * none by the name `docs/not-found`.
 *
 * Each is the page of the program, which shows the document by itself. For who runs no program, as `curl`, crawlers and
 * readers without JavaScript, its text and the ways to the others stand in it too.
 */
export function writeDocuments(shell: string, style: string): ReadonlyMap<string, string> {
  const guides = readGuides()
  const ways: Ways = {
    above: documentList.map(([name, title]) => [paths[name], title]),
    entries: guides.map(({ entry }) => entry),
    guideAt,
    wayTo: (target) => target,
  }
  const texts = new Map(guides.map(({ entry, guide }) => [entry.slug, writeGuide(guide, guideAt)]))
  const documents = [
    ...guides.map(({ entry: { slug, title } }) => ({ target: guideAt(slug), title, content: texts.get(slug) ?? '' })),
    ...documentList.map(([name, title]) => ({ target: paths[name], title, content: describe[name](texts) })),
    { target: '/docs/not-found', title: 'No such page', content: '<p>There is no page at this address.</p>' },
  ]
  return new Map(
    documents.map((document) => [
      document.target.slice(1),
      insertInto(shell, { style, title: document.title, body: writeBody(document, ways) }),
    ]),
  )
}

/** What is said on a page whose content only the program can ask for, and where that content is. */
const describe: Readonly<Record<(typeof documentList)[number][0], (texts: ReadonlyMap<string, string>) => string>> = {
  docsGuides: () =>
    '<p>For who uses the models, and for who runs the service.</p>' +
    `<p>New here? ${link(guideAt('getting-started'), 'Getting started')} leads from the first start to a call that is ` +
    'answered, a price, a budget on a key and an alert. Or choose a guide.</p>',
  docsApi: () =>
    '<p>This page needs JavaScript. What it shows is made of these documents: ' +
    `${link('/v1/openapi.json', 'the models, as JSON')} and ${link('/api/v1/openapi.json', 'the management, as JSON')}.</p>`,
  docsErrors: (texts) => texts.get('customers-errors') ?? '',
  docsMigrate: () =>
    '<p>This page needs JavaScript. What takes the place of which model is in a guide too: ' +
    `${link(guideAt('customers-models'), 'the models')}; so is ${link(guideAt('clients'), 'how clients are set up')}.</p>`,
  docsPricing: () =>
    '<p>This page needs JavaScript. Where the operator of this service publishes prices, they are here ' +
    `${link('/api/v1/public/prices', 'as JSON')}; <code>billing.publicPrices</code> in the config file does so.</p>`,
}

type Inserted = { readonly style: string; readonly title: string; readonly body: string }

function insertInto(shell: string, { style, title, body }: Inserted): string {
  return replaced(shell, [
    [/<title>.*?<\/title>/, `<title>${escapeXml(title)} · Odyssey</title>`],
    ['</head>', `  <noscript><link rel="stylesheet" href="${style}" /></noscript>\n  </head>`],
    [/<noscript>(?!<link).*?<\/noscript>/, `<noscript>\n${body}\n</noscript>`],
  ])
}

function replaced(text: string, changes: readonly (readonly [RegExp | string, string])[]): string {
  return changes.reduce((changed, [place, by]) => {
    const next = changed.replace(place, () => by)
    if (next === changed) throw new Error(`The page of the program has no ${String(place)}.`)
    return next
  }, text)
}
