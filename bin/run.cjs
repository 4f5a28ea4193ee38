'use strict'

const { spawn } = require('child_process')
const os = require('os')

/** How long, on a busy machine, a signal may take from one process of a group to the next. */
const spreadMs = 300
/** npm passes a signal of the terminal on once more; what follows this soon is that echo. */
const echoMs = 1000
const parentPollMs = 500

const parent = process.ppid
const isRunByNpm = Boolean(process.env.npm_lifecycle_event)

/** Becomes `node`, where that will do; else starts it and stands in for it until its end. */
function run(node, args, env) {
  if (typeof process.execve === 'function' && process.platform !== 'win32' && !isRunByNpm) {
    process.execve(node, [node].concat(args), env)
  }
  supervise(node, args, env)
}

// The child must get each signal once: the server takes a second one as "stop now".
// A Ctrl-C, a closed terminal and most service managers signal every process of the
// group, so the child has it already; `kill` and npm signal the launcher alone, so it
// has to be passed on. Node does not say which of the two has happened, and a process
// group of the child's own would take the terminal from it. So a witness stands by: a
// `cat` that waits on an empty pipe. If the signal ended it, the signal went to all.
function supervise(node, args, env) {
  const pending = new Set()
  const wentToAllAt = {}
  let isTold = false
  const relay = async (signal) => {
    isTold = true
    if (pending.has(signal) || Date.now() - (wentToAllAt[signal] || 0) < echoMs) return
    pending.add(signal)
    if (await witness.hasReceived(signal)) wentToAllAt[signal] = Date.now()
    else child.kill(signal)
    pending.delete(signal)
  }
  // Before the child exists, so that no signal can end this process and leave the child behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void relay(signal))

  // One that is killed can pass nothing on. A service that knows whose child it is sees that and stops.
  const launched = Object.assign({}, env, { ODYSSEY_LAUNCHER_PID: String(process.pid) })
  const child = spawn(node, args, { stdio: 'inherit', env: launched })
  const witness = createWitness()
  child.on('error', (error) => {
    process.stderr.write(`odyssey: ${node} could not be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => (signal === null ? process.exit(code) : endBySignal(signal)))
  if (isRunByNpm) whenOrphaned(() => isTold || child.kill('SIGTERM'))
}

// npm runs a script through a shell and signals that shell alone, which ends without
// passing the signal on. A lost parent therefore counts as a request to stop.
function whenOrphaned(stop) {
  const poll = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(poll)
    // A signal to the whole group may have ended the shell first; its own copy is then about to come.
    setTimeout(() => stop(), parentPollMs)
  }, parentPollMs)
}

function createWitness() {
  // Windows has no `kill`: its console tells every process itself.
  if (process.platform === 'win32') return { hasReceived: async () => true }
  /** The signal that ended the witness, null while it waits. */
  let endedBy = null
  let isMissing = false
  let onEnd = () => {}
  const start = () => {
    endedBy = null
    // Its pipe closes with this process, so it cannot be left behind.
    const cat = spawn('cat', [], { stdio: ['pipe', 'ignore', 'ignore'] })
    cat.on('error', () => (isMissing = true))
    cat.on('exit', (_code, signal) => {
      endedBy = signal
      onEnd()
    })
  }
  start()
  return {
    async hasReceived(signal) {
      // Without a witness the likelier case decides.
      if (isMissing) return signal === 'SIGINT' && Boolean(process.stdin.isTTY)
      if (endedBy === null) {
        await new Promise((resolve) => {
          onEnd = resolve
          setTimeout(resolve, spreadMs)
        })
      }
      const found = endedBy
      if (found !== null) start()
      return found === signal
    },
  }
}

/** Ends this process the way its child ended, so that whoever waits for it sees the same. */
function endBySignal(signal) {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  // A signal that does not end this process still is no success.
  setTimeout(() => process.exit(128 + (os.constants.signals[signal] || 0)), 1000)
}

module.exports = { endBySignal, run }
