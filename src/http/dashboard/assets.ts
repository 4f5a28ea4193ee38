import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A file of the dashboard as it is sent: the bytes, and the same in fewer where the build has compressed them. */
export type Asset = {
  readonly type: string
  readonly etag: string
  readonly bytes: Buffer
  readonly brotli: Buffer | null
  readonly gzip: Buffer | null
}

/** What the build has made, in memory: an address is looked up by its exact text, so none leads to another file. */
export type Assets = {
  /** The build's own name: another one means that a page which is open is of an earlier build. */
  readonly build: string
  readonly files: ReadonlyMap<string, Asset>
  readonly html: string
  isPage(path: string): boolean
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Reads what was built, half a megabyte; null where nothing was. */
export function readAssets(folder: string): Assets | null {
  const pages = readIfPresent(join(folder, 'pages.json'))
  if (pages === null) return null
  const names = globSync('assets/*', { cwd: folder }).map((name) => name.replaceAll('\\', '/'))
  const files = names.flatMap((name) => {
    const type = types[extname(name)]
    return type === undefined ? [] : [[`/${name}`, readAsset(join(folder, name), type)] as const]
  })
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const patterns = (JSON.parse(pages.toString()) as string[]).map(toPattern)
  return {
    build: createHash('sha256').update(html).digest('hex').slice(0, 12),
    files: new Map(files),
    html,
    isPage: (path) => patterns.some((pattern) => pattern.test(path)),
  }
}

/** When it was built last; null before the first time. */
export function builtAtMs(folder: string): number | null {
  return statSync(join(folder, 'pages.json'), { throwIfNoEntry: false })?.mtimeMs ?? null
}

function readAsset(file: string, type: string): Asset {
  const bytes = readFileSync(file)
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { type, etag, bytes, brotli: readIfPresent(`${file}.br`), gzip: readIfPresent(`${file}.gz`) }
}

function readIfPresent(file: string): Buffer | null {
  return statSync(file, { throwIfNoEntry: false }) === undefined ? null : readFileSync(file)
}

/** `/o/:organizationId/keys`, as the dashboard's own table of paths has it. */
function toPattern(path: string): RegExp {
  const parts = path.split('/').map((part) => (part.startsWith(':') ? '[^/]{1,100}' : RegExp.escape(part)))
  return new RegExp(`^${parts.join('/')}/?$`)
}
