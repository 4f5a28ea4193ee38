import { join } from 'node:path'
import { partPaths } from '../../engines/llama/gguf/inspect-weights.ts'

/** Where weights are fetched from, understood but not asked yet. */
export type WeightsSource = {
  /** What the weights are known as afterwards; keys that an address may hold are left out. */
  readonly name: string
  readonly isHub: boolean
  /** In the order of the parts; the first is the one that an engine is told of. */
  readonly files: readonly SourceFile[]
}

export type SourceFile = {
  readonly name: string
  /** Where it is put, below the folder of weights. */
  readonly path: string
  /** Its address; on a hub, as of a certain commit where one is given. */
  url(commit: string | null): URL
}

/** A source of weights that names none. */
export class WeightsSourceError extends Error {
  override readonly name = 'WeightsSourceError'
}

/**
 * Reads `owner/repo/file.gguf`, `owner/repo@revision/folder/file.gguf` or a plain address.
 *
 * Weights in several parts may be named by any of them; all are meant.
 */
export function parseWeightsSource(text: string, hubAddress: string): WeightsSource {
  const hub = URL.parse(hubAddress.replace(/\/+$/, ''))
  if (hub === null || !isHttp(hub)) throw new WeightsSourceError(`The hub's address is not one: ${hubAddress}`)
  if (/^https?:\/\//i.test(text)) return parseAddress(text, hub)
  const wanted = readHubFile(text)
  const files = partPaths(wanted.file).map((part) => toSourceFile(hub, wanted, part))
  return { name: files[0]?.name ?? text, isHub: true, files }
}

type HubFile = { readonly owner: string; readonly repository: string; readonly revision: string; readonly file: string }

function readHubFile(text: string): HubFile {
  const match = /^([\w.-]+)\/([\w.-]+?)(?:@([\w.%-]+))?\/(.+\.gguf)$/.exec(text)
  const [, owner = '', repository = '', revision = 'main', file = ''] = match ?? []
  if ([owner, repository, revision, ...file.split('/')].every(isPlainName)) return { owner, repository, revision, file }
  throw new WeightsSourceError(
    `A source is owner/repo/file.gguf, owner/repo@revision/file.gguf or an address, not ${text}`,
  )
}

function toSourceFile(hub: URL, { owner, repository, revision }: HubFile, part: string): SourceFile {
  const isMain = revision === 'main'
  const folder = isMain ? repository : `${repository}@${safeName(revision)}`
  return {
    name: `${owner}/${repository}${isMain ? '' : `@${revision}`}/${toSlashes(part)}`,
    path: join(owner, folder, part),
    url(commit) {
      const path = `${owner}/${repository}/resolve/${commit ?? revision}/${encodePath(part)}`
      return new URL(`${hub.href.replace(/\/$/, '')}/${path}`)
    },
  }
}

function parseAddress(text: string, hub: URL): WeightsSource {
  const address = URL.parse(text)
  if (address === null || address.username !== '') throw new WeightsSourceError('The address cannot be used.')
  // What a browser shows of a file is a page about it.
  if (address.origin === hub.origin) address.pathname = address.pathname.replace('/blob/', '/resolve/')
  const segments = address.pathname.split('/')
  const last = decodeName(segments.pop() ?? '')
  if (!last.endsWith('.gguf') || !isPlainName(last)) {
    throw new WeightsSourceError(`The address of weights ends in the name of a .gguf file, not in ${last || '/'}`)
  }
  // Many a server has files of one name in several folders.
  const folders = [address.host, ...segments.filter((segment) => segment !== '')].map(safeName)
  const files = partPaths(last).map((part): SourceFile => {
    const url = new URL(address)
    url.pathname = [...segments, encodeURIComponent(part)].join('/')
    return { name: withoutKeys(url), path: join(...folders, part), url: () => url }
  })
  return { name: files[0]?.name ?? text, isHub: address.origin === hub.origin, files }
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new WeightsSourceError(`The address of weights has a % in its last part, ${text}, that stands for no letter.`)
  }
}

function withoutKeys(url: URL): string {
  return `${url.origin}${url.pathname}`
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:'
}

/** A name that stays in its folder, and that every file system takes. */
function isPlainName(name: string): boolean {
  return /^[^\\/:*?"<>|\p{Cc}]{1,200}$/u.test(name) && !name.startsWith('.')
}

function safeName(text: string): string {
  return text
    .replace(/[^\w.-]/g, '_')
    .replace(/^\./, '_')
    .slice(0, 200)
}

function encodePath(path: string): string {
  return toSlashes(path).split('/').map(encodeURIComponent).join('/')
}

function toSlashes(path: string): string {
  return path.replaceAll('\\', '/')
}
