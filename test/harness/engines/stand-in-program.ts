// A stand-in as a program of its own, as a gateway starts one: `stand-in-program.ts KIND PORT [what it does wrong]`.

import { replicaKinds } from '../../../src/engines/remote/dialect.ts'
import { openPlaceholderModel } from './placeholder-model.ts'
import { openStandIn } from './stand-in.ts'

const [named, port, wrong] = process.argv.slice(2)
const kind = replicaKinds.find((one) => one === named)
if (kind === undefined) throw new Error(`${named} is no kind of replica.`)
if (wrong === 'ends') process.exit(3)
const standIn = await openStandIn({ kind, model: await openPlaceholderModel(), port: Number(port) })
standIn.tokenMs = 2
console.log('listening')
if (wrong === 'chatters') for (let line = 0; line < 5_000; line++) console.log(`line ${line} ${'x'.repeat(900)}`)
process.once('SIGTERM', () => process.exit(0))
