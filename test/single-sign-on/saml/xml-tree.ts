// XML as a forger makes it: a tree that can be changed anywhere, written as a document or in exclusive canonical form.
// Nothing of what the service reads XML with is in it.

export type Piece =
  | XmlTree
  | string
  | { readonly comment: string }
  | { readonly cdata: string }
  | { readonly raw: string }

export type XmlTree = {
  tag: string
  attributes: Record<string, string>
  children: Piece[]
}

export function xml(tag: string, attributes: Record<string, string> = {}, ...children: Piece[]): XmlTree {
  return { tag, attributes, children }
}

export function isTree(piece: Piece): piece is XmlTree {
  return typeof piece !== 'string' && 'tag' in piece
}

/** The first element with a name, wherever it stands; prefixes are no matter. */
export function find(root: XmlTree, name: string): XmlTree {
  const found = all(root, name)[0]
  if (found === undefined) throw new Error(`There is no ${name}.`)
  return found
}

export function all(root: XmlTree, name: string): XmlTree[] {
  const inside = root.children.filter(isTree).flatMap((child) => all(child, name))
  return localOf(root.tag) === name ? [root, ...inside] : inside
}

export function parentOf(root: XmlTree, child: XmlTree): XmlTree {
  const parent = elements(root).find(({ children }) => children.includes(child))
  if (parent === undefined) throw new Error('It has no parent.')
  return parent
}

export function remove(root: XmlTree, name: string): void {
  const child = find(root, name)
  const parent = parentOf(root, child)
  parent.children = parent.children.filter((one) => one !== child)
}

export function replace(root: XmlTree, old: XmlTree, next: Piece): void {
  const parent = parentOf(root, old)
  parent.children = parent.children.map((one) => (one === old ? next : one))
}

export function copy(tree: XmlTree): XmlTree {
  return structuredClone(tree)
}

export function elements(root: XmlTree): XmlTree[] {
  return [root, ...root.children.filter(isTree).flatMap(elements)]
}

const localOf = (tag: string) => tag.slice(tag.indexOf(':') + 1)
const prefixOf = (name: string) => (name.includes(':') ? name.slice(0, name.indexOf(':')) : '')
const isDeclaration = (name: string) => name === 'xmlns' || name.startsWith('xmlns:')

const escapeText = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#xD;')
const escapeAttribute = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#x9;')
    .replaceAll('\n', '&#xA;')
    .replaceAll('\r', '&#xD;')

/** As a document. */
export function write(piece: Piece): string {
  if (typeof piece === 'string') return escapeText(piece)
  if ('comment' in piece) return `<!--${piece.comment}-->`
  if ('cdata' in piece) return `<![CDATA[${piece.cdata}]]>`
  if ('raw' in piece) return piece.raw
  const attributes = Object.entries(piece.attributes).map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`)
  const head = `<${piece.tag}${attributes.join('')}`
  return piece.children.length === 0 ? `${head}/>` : `${head}>${piece.children.map(write).join('')}</${piece.tag}>`
}

type Scope = Readonly<Record<string, string>>

/**
 * An element of a document in exclusive canonical form, without comments. Of the prefixes given the declarations stand
 * also where nothing is called by them.
 */
export function canonicalize(root: XmlTree, element: XmlTree, inclusive: readonly string[] = []): string {
  return render(element, { scope: scopeOf(root, element) ?? {}, rendered: {}, inclusive })
}

/** Calls the elements of a tree by other prefixes, an empty one included. */
export function rename(root: XmlTree, prefixes: Readonly<Record<string, string>>): void {
  for (const tree of elements(root)) {
    const next = prefixes[prefixOf(tree.tag)]
    if (next !== undefined) tree.tag = next === '' ? localOf(tree.tag) : `${next}:${localOf(tree.tag)}`
    tree.attributes = Object.fromEntries(
      Object.entries(tree.attributes).map(([name, value]) => {
        const own = isDeclaration(name) ? prefixes[name.slice(6)] : undefined
        return [own === undefined ? name : own === '' ? 'xmlns' : `xmlns:${own}`, value]
      }),
    )
  }
}

/** What is declared around an element. */
function scopeOf(from: XmlTree, element: XmlTree, scope: Scope = {}): Scope | null {
  if (from === element) return scope
  const inner = declare(scope, from)
  for (const child of from.children.filter(isTree)) {
    const found = scopeOf(child, element, inner)
    if (found !== null) return found
  }
  return null
}

function declare(scope: Scope, { attributes }: XmlTree): Scope {
  const own = Object.entries(attributes).filter(([name]) => isDeclaration(name))
  return { ...scope, ...Object.fromEntries(own.map(([name, value]) => [name === 'xmlns' ? '' : name.slice(6), value])) }
}

type Rendering = { readonly scope: Scope; readonly rendered: Scope; readonly inclusive: readonly string[] }

function render(tree: XmlTree, { scope: outer, rendered, inclusive }: Rendering): string {
  const scope = declare(outer, tree)
  const names = Object.keys(tree.attributes).filter((name) => !isDeclaration(name))
  const prefixes = new Set([prefixOf(tree.tag), ...names.map(prefixOf).filter((prefix) => prefix !== '')])
  prefixes.delete('xml')
  for (const prefix of inclusive) if (scope[prefix] !== undefined) prefixes.add(prefix)
  const shown = [...prefixes]
    .toSorted()
    .filter((prefix) => (scope[prefix] ?? '') !== (rendered[prefix] ?? ''))
    .map((prefix) => [prefix, scope[prefix] ?? ''] as const)
  const declarations = shown.map(
    ([prefix, uri]) => ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeAttribute(uri)}"`,
  )
  const key = (name: string) => (prefixOf(name) === '' ? '' : `${scope[prefixOf(name)] ?? ''} `) + localOf(name)
  const attributes = names
    .toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
    .map((name) => ` ${name}="${escapeAttribute(tree.attributes[name] ?? '')}"`)
  const inner = { scope, rendered: { ...rendered, ...Object.fromEntries(shown) }, inclusive }
  const children = tree.children.map((child) => {
    if (typeof child === 'string') return escapeText(child)
    if ('comment' in child) return ''
    if ('cdata' in child) return escapeText(child.cdata)
    return 'raw' in child ? child.raw : render(child, inner)
  })
  return `<${tree.tag}${declarations.join('')}${attributes.join('')}>${children.join('')}</${tree.tag}>`
}
