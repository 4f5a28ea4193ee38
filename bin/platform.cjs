'use strict'

const fs = require('fs')
const path = require('path')

/** As node-llama-cpp names systems in its packages. */
const systems = { linux: 'linux', darwin: 'mac', win32: 'win' }

/**
 * The packages that this machine needs of those that come one for each kind of machine: Node, and builds of the engine.
 * Each as `name@version`.
 *
 * All the builds for graphics cards together are 600 MB, so they are left out where there is no card.
 */
function platformPackages(lockfile, nodeName, machine = readMachine()) {
  const { packages } = JSON.parse(lockfile)
  const versionOf = (name) => (packages[`node_modules/${name}`] || {}).version
  const engine = packages['node_modules/node-llama-cpp'] || {}
  const builds = Object.entries(engine.optionalDependencies || {}).filter(([name]) => isWanted(name, machine))
  const node = nodeName !== null && versionOf(nodeName) !== undefined ? [[nodeName, versionOf(nodeName)]] : []
  return node
    .concat(builds)
    .map(([name, version]) => `${name}@${version}`)
    .sort()
}

function isWanted(name, { platform, arch, cards }) {
  const build = `@node-llama-cpp/${systems[platform]}-${arch}`
  if (name === build) return true
  const device = name.startsWith(`${build}-`) ? name.slice(build.length + 1).split('-')[0] : null
  return device === 'metal' || cards.includes(device)
}

function readMachine() {
  const { platform, arch, env } = process
  return { platform, arch, cards: cardsFor(env.ODYSSEY_GPU || 'auto', platform, fs.existsSync) }
}

/** Any of these files is there where a driver of the card is. */
const traces = {
  cuda: {
    linux: ['/proc/driver/nvidia/version', '/dev/nvidiactl', '/dev/dxg'],
    win32: ['C:\\Windows\\System32\\nvcuda.dll'],
  },
  vulkan: {
    linux: ['/dev/dri/renderD128', '/dev/kfd'],
    win32: ['C:\\Windows\\System32\\vulkan-1.dll'],
  },
}

/** What ODYSSEY_GPU asks for: `off`, `auto`, or kinds of cards, as `cuda,vulkan`. */
function cardsFor(asked, platform, exists) {
  if (asked === 'off') return []
  if (asked !== 'auto') return asked.split(',').map((name) => name.trim())
  return Object.keys(traces).filter((card) => (traces[card][platform] || []).some((file) => exists(file)))
}

/**
 * A package that depends on those, for npm to install beside what the lockfile names. They are optional there, and left
 * out with all that is; as what this one needs they are put in, each as the lockfile has it.
 */
function writePlatform(root, names) {
  const folder = path.join(root, 'node_modules', '.odyssey', 'platform')
  const entries = names.map((name) => [name.slice(0, name.lastIndexOf('@')), name.slice(name.lastIndexOf('@') + 1)])
  const dependencies = {}
  for (const [name, version] of entries) dependencies[name] = version
  fs.mkdirSync(folder, { recursive: true })
  const manifest = { name: 'odyssey-platform', version: '1.0.0', dependencies }
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
  return folder
}

module.exports = { cardsFor, platformPackages, writePlatform }
