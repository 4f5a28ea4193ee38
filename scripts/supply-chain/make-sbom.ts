import {
  dependenciesOf,
  isForProduction,
  nameOf,
  requiredFolders,
  type LockedPackage,
  type Lockfile,
} from './lockfile.ts'

/** What is said of the document itself; nothing unless given, so that the same lockfile always makes the same document. */
export type SbomStamp = { readonly timestamp?: string; readonly serialNumber?: string }

export type Sbom = ReturnType<typeof makeSbom>

/**
 * The bill of materials of an installation that runs the service, as CycloneDX 1.6.
 *
 * It is made from the lockfile alone: every package that `npm install
 * --omit=dev` may put on a machine of whichever platform, with its hash, its
 * licence, and what it asks for.
 */
export function makeSbom(lockfile: Lockfile, stamp: SbomStamp = {}) {
  const { own, packages } = lockfile
  const required = requiredFolders(lockfile)
  const folders = [...packages].filter(([, locked]) => isForProduction(locked)).map(([folder]) => folder)
  const components = new Map<string, ReturnType<typeof toComponent>>()
  const dependencies = new Map<string, Set<string>>()
  for (const folder of ['', ...folders]) {
    const locked = folder === '' ? own : packages.get(folder)
    if (locked === undefined) continue
    const reference = referenceOf(folder, locked)
    if (folder !== '') {
      const isRequired = required.has(folder) || components.get(reference)?.scope === 'required'
      components.set(reference, toComponent(folder, locked, isRequired))
    }
    // The same version may lie in several folders, and find others there.
    const asked = dependencies.get(reference) ?? new Set<string>()
    for (const other of dependenciesOf(lockfile, folder, 'all')) {
      const found = packages.get(other)
      if (found !== undefined && isForProduction(found)) asked.add(referenceOf(other, found))
    }
    dependencies.set(reference, asked)
  }
  const { timestamp, serialNumber } = stamp
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    ...(serialNumber !== undefined && { serialNumber }),
    version: 1,
    metadata: {
      ...(timestamp !== undefined && { timestamp }),
      component: {
        type: 'application',
        'bom-ref': referenceOf('', own),
        name: nameOf('', own),
        version: own.version,
        ...describeLicence(own),
        purl: referenceOf('', own),
      },
    },
    components: sorted([...components.values()], (component) => component['bom-ref']),
    dependencies: sorted(
      [...dependencies].map(([ref, asked]) => ({ ref, dependsOn: [...asked].toSorted() })),
      ({ ref }) => ref,
    ),
  }
}

function toComponent(folder: string, locked: LockedPackage, isRequired: boolean) {
  const reference = referenceOf(folder, locked)
  return {
    type: 'library',
    'bom-ref': reference,
    name: nameOf(folder, locked),
    version: locked.version,
    scope: isRequired ? 'required' : 'optional',
    hashes: (locked.integrity ?? '').split(' ').filter(Boolean).map(toHash),
    ...describeLicence(locked),
    purl: reference,
  } as const
}

/** The package's address, which says as well where it comes from. */
function referenceOf(folder: string, locked: LockedPackage): string {
  return `pkg:npm/${nameOf(folder, locked).replace('@', '%40')}@${locked.version}`
}

const algorithms: Readonly<Record<string, string>> = { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }

function toHash(integrity: string): { readonly alg: string; readonly content: string } {
  const [algorithm = '', digest = ''] = integrity.split('-', 2)
  const alg = algorithms[algorithm]
  if (alg === undefined) throw new Error(`${integrity} is under a hash that no longer protects anything.`)
  return { alg, content: Buffer.from(digest, 'base64').toString('hex') }
}

function describeLicence({ license }: LockedPackage) {
  if (license === undefined) return {}
  return { licenses: [/\s/.test(license) ? { expression: license } : { license: { id: license } }] }
}

/** By code points, as the order of a language differs from machine to machine. */
function sorted<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return items.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}
