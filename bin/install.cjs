'use strict'

const crypto = require('crypto')
const fs = require('fs')
const path = require('path')
const { nodePackage, pinnedNode } = require('./find-node.cjs')
const { lock } = require('./lock.cjs')
const { platformPackages, writePlatform } = require('./platform.cjs')
const { runNpm } = require('./npm.cjs')

/** Stands in the stamp from the first change to the last, so that a half of an installation never passes for one. */
const unfinished = 'unfinished'

/**
 * Returns once node_modules holds what package-lock.json names, and installs it if need be.
 *
 * Nothing is written where nothing is to be installed, so an image that was
 * installed when it was built may be read-only.
 */
async function ensureInstalled(root, { development }) {
  const lockfile = readIfPresent(path.join(root, 'package-lock.json'))
  if (lockfile === null) return
  const hash = crypto.createHash('sha256').update(lockfile).digest('hex')
  const node = nodePackage()
  const platform = development ? null : platformPackages(lockfile, node)
  // Where everything is, what serving needs is as well.
  const stamps = development ? [hash] : [hash, [hash].concat(platform).join(' ')]
  const isInstalled = () => {
    const stamped = readIfPresent(stampOf(root))
    if (stamps.includes(stamped)) return true
    // Something else of this lockfile was installed here: less, or for another machine.
    if (stamped === unfinished || (stamped !== null && stamped.startsWith(hash))) return false
    return isInstalledByHand(root, lockfile, development)
  }
  if (isInstalled()) return

  const held = await lock(path.join(root, '.odyssey-install'))
  try {
    // Whoever held the lock before may have done the work.
    if (isInstalled()) return
    process.stderr.write('Installing dependencies (once per lockfile change) …\n')
    await install(root, { lockfile, platform, held })
    fs.writeFileSync(stampOf(root), stamps[stamps.length - 1])
  } finally {
    held.release()
  }
}

async function install(root, { lockfile, platform, held }) {
  const stamp = stampOf(root)
  const modules = path.dirname(stamp)
  // npm takes a package for whole whose description is there, though its other files may not be.
  if (readIfPresent(stamp) === unfinished) (fs.rmSync || fs.rmdirSync)(modules, { recursive: true })
  fs.mkdirSync(modules, { recursive: true })
  fs.writeFileSync(stamp, unfinished)
  try {
    const folder = platform === null ? null : writePlatform(root, platform)
    await runNpm(root, { platform: folder, onStart: (pid) => held.alsoHeldBy(pid) })
  } catch (error) {
    // npm that fails by itself puts back what was there.
    if (!error.signal) fs.unlinkSync(stamp)
    throw error
  }
  // npm goes on without an optional package that it failed to fetch; the pinned Node is one.
  if (!hasPinnedNode(root, lockfile)) {
    throw new Error('The dependencies could not be installed: npm left out the pinned Node. Start again to retry.')
  }
}

function stampOf(root) {
  return path.join(root, 'node_modules', '.odyssey-lock')
}

/** The record npm keeps of what it has put into node_modules. */
function hiddenLockfile(root) {
  return path.join(root, 'node_modules', '.package-lock.json')
}

/** Whether someone ran npm already: `npm ci`, or `npm ci --omit=dev` where only the product is to run. */
function isInstalledByHand(root, lockfile, development) {
  const record = readIfPresent(hiddenLockfile(root))
  if (record === null) return false
  const installed = JSON.parse(record).packages || {}
  const isThere = ([name, wanted]) => {
    if (name === '' || (wanted.dev && !development)) return true
    const found = installed[name]
    // npm leaves out the optional packages of other platforms.
    if (found === undefined) return Boolean(wanted.optional || wanted.devOptional)
    return found.version === wanted.version && found.integrity === wanted.integrity
  }
  return Object.entries(JSON.parse(lockfile).packages).every(isThere) && hasPinnedNode(root, lockfile)
}

function hasPinnedNode(root, lockfile) {
  const node = pinnedNode(root)
  if (node === null || fs.existsSync(node)) return true
  const name = path
    .relative(root, path.dirname(path.dirname(node)))
    .split(path.sep)
    .join('/')
  return !(name in JSON.parse(lockfile).packages)
}

function readIfPresent(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  }
}

module.exports = { ensureInstalled }
