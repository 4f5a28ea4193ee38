'use strict'

// A lock is a directory, because creating one succeeds for exactly one process. It
// holds one file, the owner's token, which names the processes that are at work.
// To take over from a dead owner one removes that very token first, which again
// succeeds for exactly one process, so nobody removes the lock of a living successor.

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
  const token = path.join(directory, `${process.pid}-${Date.now()}`)
  try {
    fs.mkdirSync(directory)
    fs.writeFileSync(token, String(process.pid))
    return token
  } catch (error) {
    // The second code: the directory was slow to be marked and was taken for a dead one.
    if (error.code === 'EEXIST' || error.code === 'ENOENT') return null
    throw new Error(`The dependencies could not be installed: the folder is not writable (${error.message}).`)
  }
}

function hold(directory, token) {
  const beat = setInterval(() => attempt(() => fs.utimesSync(token, new Date(), new Date())), beatMs)
  beat.unref()
  return {
    /** A process that outlives this one keeps the lock. */
    alsoHeldBy: (pid) => fs.writeFileSync(token, `${process.pid} ${pid}`),
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
      const pids = fs.readFileSync(token, 'utf8').split(' ').map(Number)
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
