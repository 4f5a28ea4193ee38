'use strict'

const crypto = require('crypto')
const { spawn, spawnSync } = require('child_process')
const fs = require('fs')
const path = require('path')

/** What is made of the sources, or is only there while they are worked on. */
const made = new Set([
  'dist',
  'dist.next',
  'dist.old',
  'dist.failed',
  'node_modules',
  '.tools',
  path.join('src', 'api', 'types.ts'),
])

/**
 * Begins to build the dashboard where its sources have changed since it was built last, and waits for nothing: the service
 * starts meanwhile, and shows that the dashboard is being prepared.
 *
 * A package has it built, and has no sources of it.
 */
function beginDashboard(root, node, args) {
  const isOff = /^(?:off|false|no|0)$/i.test(process.env.ODYSSEY_DASHBOARD ?? '')
  if (args[0] !== 'serve' || isOff || !isStale(root)) return
  const script = path.join(__dirname, 'build-dashboard.cjs')
  if (process.platform === 'win32') {
    spawn(node, [script], { stdio: 'ignore', detached: true, windowsHide: true }).unref()
    return
  }
  // This process may become the service, which would never take note of a child's end; so the shell's ends at once,
  // and the build belongs to nobody. It stays in the terminal's group and goes with a Ctrl-C.
  spawnSync('sh', ['-c', '"$0" "$1" >/dev/null 2>&1 &', node, script], { stdio: 'ignore' })
}

function isStale(root) {
  if (!fs.existsSync(path.join(root, 'web', 'build.ts'))) return false
  const looks = looksOf(root)
  if (readIfPresent(looksFileOf(root)) === looks) return false
  if (readIfPresent(stampOf(root)) !== hashOf(root)) return true
  try {
    fs.writeFileSync(looksFileOf(root), looks)
  } catch {
    // Who may not write here reads the sources at each start.
  }
  return false
}

/** What the sources looked like when they were found to be those of the build: as long as they do, they need not be read. */
function looksFileOf(root) {
  return path.join(root, 'web', 'dist', 'looks')
}

/** A hash over the names, lengths and times of everything that the build is made of. */
function looksOf(root) {
  const hash = crypto.createHash('sha256')
  for (const file of sourcesOf(root)) {
    const { size, mtimeMs } = fs.statSync(path.join(root, file))
    hash.update(`${file}\0${size} ${mtimeMs}\0`)
  }
  return hash.digest('hex')
}

function stampOf(root) {
  return path.join(root, 'web', 'dist', 'stamp')
}

/** A hash over everything that the build is made of: the sources, and the guides that it makes pages of. */
function hashOf(root) {
  const hash = crypto.createHash('sha256')
  for (const file of sourcesOf(root)) {
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(path.join(root, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

function sourcesOf(root) {
  const files = ['web', 'docs'].flatMap((folder) =>
    listFiles(path.join(root, folder), '').map((name) => path.join(folder, name)),
  )
  return fs.existsSync(path.join(root, 'package-lock.json')) ? [...files, 'package-lock.json'] : files
}

function listFiles(folder, prefix) {
  const entries = fs.readdirSync(path.join(folder, prefix), { withFileTypes: true })
  return entries
    .filter((entry) => !made.has(path.join(prefix, entry.name)))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .reduce((files, entry) => {
      const name = path.join(prefix, entry.name)
      return files.concat(entry.isDirectory() ? listFiles(folder, name) : [name])
    }, [])
}

function readIfPresent(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

module.exports = { beginDashboard, hashOf, isStale, looksOf, stampOf }
