#!/usr/bin/env node
'use strict'

// The one way in: `npm start`, `npm test` and `npx odyssey` all begin here.
// The files of this folder run on whatever Node the machine has, 14 or newer, with
// nothing installed. They see to it that the dependencies are there, and among these
// the Node the product is written for, and hand over to that one.
//
//     odyssey.cjs <arguments>                  a command of src/cli
//     odyssey.cjs --run <script> <arguments>   a script of this repository

const fs = require('fs')
const path = require('path')
const { beginDashboard } = require('./dashboard.cjs')
const { environmentFor, nodeArguments } = require('./environment.cjs')
const { findNode } = require('./find-node.cjs')
const { ensureInstalled } = require('./install.cjs')
const { endBySignal, run } = require('./run.cjs')

const root = path.dirname(__dirname)

async function main(given) {
  const runsScript = given[0] === '--run'
  if (runsScript && given.length < 2) throw new Error('--run needs the path of a script.')
  const script = path.join(root, runsScript ? given[1] : program())
  await ensureInstalled(root, { development: runsScript })
  const node = findNode(root)
  if (!runsScript) beginDashboard(root, node, given)
  run(node, nodeArguments().concat(script, given.slice(runsScript ? 2 : 0)), environmentFor(root, node))
}

/** A package has the compiled program, a clone the source. */
function program() {
  const compiled = 'dist/cli/main.js'
  return fs.existsSync(path.join(root, compiled)) ? compiled : 'src/cli/main.ts'
}

main(process.argv.slice(2)).catch((error) => {
  if (error.signal) return endBySignal(error.signal)
  process.stderr.write(`odyssey: ${error.message}\n`)
  process.exitCode = 1
})
