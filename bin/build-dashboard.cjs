'use strict'

// Builds the dashboard, once at a time. What it is built with is installed for the build alone where only what serving
// needs is installed: it is 80 MB, and what it makes of them is one.

const { execFile } = require('child_process')
const fs = require('fs')
const os = require('os')
const path = require('path')
const { installTools } = require('./build-tools.cjs')
const { hashOf, isStale, looksOf, stampOf } = require('./dashboard.cjs')
const { lock } = require('./lock.cjs')

const root = path.dirname(__dirname)
const web = path.join(root, 'web')
const failure = path.join(web, 'dist.failed')

async function main() {
  giveWay()
  const held = await lock(path.join(root, '.odyssey-dashboard'))
  try {
    // Whoever held the lock before may have done the work.
    if (isStale(root)) await build()
  } finally {
    held.release()
  }
}

/** The service starts meanwhile, and is waited for sooner than its dashboard. Whatever this process starts gives way too. */
function giveWay() {
  try {
    os.setPriority(os.constants.priority.PRIORITY_LOW)
  } catch {
    // A system that does not allow it builds as fast as it starts.
  }
}

async function build() {
  const [looks, hash] = [looksOf(root), hashOf(root)]
  const tools = path.join(web, 'node_modules')
  const isInstalledForThis = !hasTools()
  remove(failure)
  try {
    if (isInstalledForThis) await installTools(root, toolNames(), tools)
    const next = path.join(web, 'dist.next')
    remove(next)
    await buildInto(next)
    keepEarlierFiles(next)
    fs.writeFileSync(path.join(next, 'stamp'), hash)
    fs.writeFileSync(path.join(next, 'looks'), looks)
    replace(path.dirname(stampOf(root)), next)
  } catch (error) {
    fs.writeFileSync(failure, error.message)
    throw error
  } finally {
    if (isInstalledForThis) remove(tools)
  }
}

/** Waits without standing still: on a busy machine a build takes minutes, and a lock without signs of life is taken over. */
function buildInto(folder) {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [path.join(web, 'build.ts'), folder], (error, _, stderr) => {
      if (error === null) resolve()
      else reject(new Error(stderr.trim().slice(-2000) || `the build ended with ${error.code || error.signal}`))
    })
  })
}

/** A page that was opened before an update goes on asking for the parts it was made of. */
const keptMs = 7 * 24 * 60 * 60 * 1000

function keepEarlierFiles(next) {
  const earlier = path.join(path.dirname(stampOf(root)), 'assets')
  if (!fs.existsSync(earlier)) return
  for (const name of fs.readdirSync(earlier)) {
    const from = path.join(earlier, name)
    const to = path.join(next, 'assets', name)
    const { atime, mtime } = fs.statSync(from)
    if (fs.existsSync(to) || Date.now() - mtime.getTime() > keptMs) continue
    fs.copyFileSync(from, to)
    fs.utimesSync(to, atime, mtime)
  }
}

/** A service reads files of the old one meanwhile, which is there until the new one is. */
function replace(current, next) {
  const old = `${current}.old`
  remove(old)
  if (fs.existsSync(current)) fs.renameSync(current, old)
  fs.renameSync(next, current)
  remove(old)
}

function hasTools() {
  try {
    require.resolve('vite/package.json', { paths: [web] })
    return true
  } catch {
    return false
  }
}

function toolNames() {
  return JSON.parse(fs.readFileSync(path.join(web, 'packages.json'), 'utf8'))
}

function remove(path) {
  fs.rmSync(path, { recursive: true, force: true })
}

main().catch((error) => {
  process.stderr.write(`odyssey: The dashboard could not be built: ${error.message}\n`)
  process.exitCode = 1
})
