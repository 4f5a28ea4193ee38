'use strict'

const fs = require('fs')
const path = require('path')
const { runNpm } = require('./npm.cjs')

/**
 * Puts packages, with all that they need, into a folder that a build finds them in: in the versions and with the hashes of the
 * lockfile. What is in the folder goes.
 */
async function installTools(root, names, target) {
  const folder = path.join(path.dirname(target), '.tools')
  remove(folder)
  fs.mkdirSync(folder, { recursive: true })
  const lockfile = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  const dependencies = {}
  for (const name of names) dependencies[name] = lockfile.packages[`node_modules/${name}`].version
  const own = { name: 'odyssey-build', version: '1.0.0', dependencies }
  const packages = Object.assign({}, lockfile.packages, { '': own })
  write(path.join(folder, 'package.json'), own)
  write(path.join(folder, 'package-lock.json'), Object.assign({}, lockfile, { name: own.name, packages }))
  try {
    await runNpm(folder, { platform: null, onStart: () => {} })
    remove(target)
    fs.renameSync(path.join(folder, 'node_modules'), target)
  } finally {
    remove(folder)
  }
}

function write(file, value) {
  fs.writeFileSync(file, JSON.stringify(value, null, 2))
}

function remove(path) {
  fs.rmSync(path, { recursive: true, force: true })
}

module.exports = { installTools }
