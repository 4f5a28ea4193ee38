'use strict'

const { spawn } = require('child_process')
const fs = require('fs')
const path = require('path')

// `npm ci` would refuse a lockfile that lacks the optional packages of some other
// platform, and one is written so wherever the registry is a partial mirror. With
// --no-save, `npm install` keeps to the lockfile as well, and leaves it as it is.
// Scripts are never run: what a package needs is in its tarball.
// Engines are not compared: the packages run on the pinned Node, not on npm's.
const npmArguments =
  'install --no-save --ignore-scripts --no-engine-strict --prefer-offline --no-audit --no-fund --loglevel=error'.split(
    ' ',
  )
/** All that work on the product needs, and what serving needs: of what is optional then only the packages of this machine. */
const everything = ['--include=dev', '--include=optional']
const servingOnly = ['--omit=dev', '--omit=optional']

// An outer npm passes its own settings on. These say what to install and where to,
// which is not the outer run's to decide; how to reach the registry is, and stays.
const foreignSettings =
  /^npm_config_(global|location|prefix|local_prefix|omit|include|production|only|also|dev|optional|dry_run|package_lock|package_lock_only|shrinkwrap|workspaces?|include_workspace_root|install_links|install_strategy|global_style|legacy_bundling|legacy_peer_deps|strict_peer_deps|engine_strict|force|os|cpu|libc|json|loglevel)$/i

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']

const causes = [
  [
    /^(ENOTFOUND|EAI_AGAIN|ECONN\w+|E\w*TIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|E5\d\d)$/,
    'the package registry cannot be reached',
  ],
  [/CERT|SIGNATURE|^EPROTO$/, "the package registry's certificate is not trusted"],
  [/^(ENOSPC|EDQUOT)$/, 'no space is left on the disk'],
  [/^(EACCES|EPERM|EROFS)$/, 'a folder is not writable'],
  [/^EUSAGE$/, 'package.json and package-lock.json do not agree, or npm is older than 8'],
]

/**
 * Has npm install into `root` everything, or where `platform` is a folder what serving needs and what that depends on.
 * `onStart` gets npm's process id. A failure is one line that says what is missing.
 */
function runNpm(root, { platform, onStart }) {
  const wanted = platform === null ? everything : servingOnly.concat(platform)
  return new Promise((resolve, reject) => {
    const [command, first] = npmCommand()
    const npm = spawn(command, first.concat(npmArguments, wanted), {
      cwd: root,
      env: npmEnvironment(),
      // Commands print JSON to standard output, so npm's own talk must not go there.
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: command.endsWith('.cmd'),
      windowsHide: true,
    })
    if (npm.pid !== undefined) onStart(npm.pid)
    let output = ''
    npm.stderr.setEncoding('utf8').on('data', (text) => (output += text))

    // This process outlives npm, also when it is told to stop: the lock is to be given back after the last write.
    let stoppedBy = null
    const stop = (signal) => {
      npm.kill(stoppedBy === null ? 'SIGTERM' : 'SIGKILL')
      stoppedBy = signal
    }
    for (const signal of stopSignals) process.on(signal, stop)
    const settle = (error) => {
      for (const signal of stopSignals) process.removeListener(signal, stop)
      if (stoppedBy !== null) reject(Object.assign(new Error('The installation was stopped.'), { signal: stoppedBy }))
      else if (error !== null) reject(new Error(`The dependencies could not be installed: ${error}`))
      else resolve()
    }
    npm.on('error', (error) =>
      settle(error.code === 'ENOENT' ? 'npm was not found; version 8 or newer is needed.' : error.message),
    )
    npm.on('close', (code) => settle(code === 0 ? null : explain(output, code)))
  })
}

/** The npm that started us, else the one in PATH. */
function npmCommand() {
  const outer = process.env.npm_execpath || ''
  // Other package managers set this variable too.
  if (/^np[mx]-cli\.c?js$/.test(path.basename(outer))) {
    const npm = path.join(path.dirname(outer), path.basename(outer).replace('npx', 'npm'))
    if (fs.existsSync(npm)) return [process.env.npm_node_execpath || process.execPath, [npm]]
  }
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm', []]
}

function npmEnvironment() {
  // npm's own pauses of ten seconds and a minute would leave a machine without network waiting in silence.
  const environment = { npm_config_fetch_retry_mintimeout: '1000', npm_config_fetch_retry_maxtimeout: '10000' }
  for (const name of Object.keys(process.env)) {
    if (!foreignSettings.test(name)) environment[name] = process.env[name]
  }
  return environment
}

function explain(output, exitCode) {
  const lines = output
    .split(/\r?\n/)
    .map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim())
    .filter((line) => line !== '' && !/^A complete log|^In most cases|^(syscall|errno)\b/.test(line))
  const codeLine = lines.find((line) => /^code \S+$/.test(line))
  const code = codeLine === undefined ? `exit code ${exitCode}` : codeLine.slice(5)
  const known = causes.find(([pattern]) => pattern.test(code))
  const text = lines
    .filter((line) => line !== codeLine)
    .join(' ')
    .slice(0, 400)
  return `${known === undefined ? 'npm failed' : known[1]} (${code}). npm says: ${text || 'nothing'}`
}

module.exports = { npmEnvironment, runNpm }
