import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from './bundle.ts'

/** What the service finds beside its programs. */
const beside = ['docs', 'weights', 'web']

/**
 * Bundles a clone's sources as a package has them, and programs of the clone's own with them, into a folder of this name below
 * its `node_modules`, where they find what is installed. Resolves with the folder of the programs.
 */
export async function bundleInClone(
  root: string,
  name: string,
  own: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = join(root, 'node_modules/.cache', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  for (const part of beside) symlinkSync(join(root, part), join(folder, part), 'junction')
  const programs = join(folder, 'dist')
  await bundle(join(root, 'src'), programs, own)
  return programs
}
