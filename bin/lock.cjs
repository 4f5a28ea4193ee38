'use strict'

// A lock is a directory, because creating one succeeds for exactly one process. It
// holds one file, the owner's token, whose name says which processes are at work. The
// name is there as soon as the file is; what would be written into it comes later, and
// until then the token would pass for a dead owner's. To take over from a dead owner
// one removes that very token first, which again succeeds for exactly one process, so
// nobody removes the lock of a living successor.

const fs = require('fs')
const path = require('path')

const pollMs = 200
const beatMs = 5000
/** A process id may be taken by a stranger after a restart of the machine, so an owner must also show signs of life. */
const silenceMsMax = 60000
/** How long a new owner may take between creating the directory and writing its token. */
const unmarkedMsMax = 10000

/** Waits until no one else holds the lock, then holds it until `release`. */
async function lock(directory) {
  let hasSaidSo = false
  for (;;) {
    const token = take(directory)
    if (token !== null) return hold(directory, token)
    if (removeIfStale(directory)) continue
    if (!hasSaidSo) process.stderr.write('Waiting for another start that is installing the dependencies …\n')
    hasSaidSo = true
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

function take(directory) {
  const token = tokenOf(directory, [process.pid])
  try {
    fs.mkdirSync(directory)
    fs.writeFileSync(token, '')
    return token
  } catch (error) {
    // The second code: the directory was slow to be marked and was taken for a dead one.
    if (error.code === 'EEXIST' || error.code === 'ENOENT') return null
    throw new Error(`The dependencies could not be installed: the folder is not writable (${error.message}).`)
  }
}

function tokenOf(directory, pids) {
  return path.join(directory, `${pids.join('+')}-${Date.now()}`)
}

function hold(directory, taken) {
  let token = taken
  const beat = setInterval(() => attempt(() => fs.utimesSync(token, new Date(), new Date())), beatMs)
  beat.unref()
  return {
    /** A process that outlives this one keeps the lock. */
    alsoHeldBy(pid) {
      const shared = tokenOf(directory, [process.pid, pid])
      if (attempt(() => fs.renameSync(token, shared))) token = shared
    },
    release() {
      clearInterval(beat)
      if (attempt(() => fs.unlinkSync(token))) attempt(() => fs.rmdirSync(directory))
    },
  }
}

function removeIfStale(directory) {
  try {
    const [name] = fs.readdirSync(directory)
    if (name === undefined) {
      if (ageMs(directory) < unmarkedMsMax) return false
    } else {
      const token = path.join(directory, name)
      const pids = name.split('-')[0].split('+').map(Number)
      if (ageMs(token) < silenceMsMax && pids.some(isAlive)) return false
      fs.unlinkSync(token)
    }
    fs.rmdirSync(directory)
    return true
  } catch (error) {
    // Someone else was faster; the next attempt to take the lock tells.
    if (error.code === 'ENOENT' || error.code === 'ENOTEMPTY') return false
    throw error
  }
}

function ageMs(file) {
  return Date.now() - fs.statSync(file).mtimeMs
}

function isAlive(pid) {
  if (!(pid > 0) || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function attempt(action) {
  try {
    action()
    return true
  } catch {
    return false
  }
}

module.exports = { lock }
