import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from './bundle.ts'

/** What the service finds beside its programs. */
const beside = ['docs', 'weights', 'web']

/** Bundles the sources as a package has them, below `node_modules`, and resolves with the path of the command line. */
export async function bundleForTests(root: string): Promise<string> {
  const folder = join(root, 'node_modules/.cache/program')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  for (const name of beside) symlinkSync(join(root, name), join(folder, name), 'junction')
  await bundle(join(root, 'src'), join(folder, 'dist'))
  return join(folder, 'dist/cli/main.js')
}
