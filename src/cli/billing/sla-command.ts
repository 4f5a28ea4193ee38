import { readFileSync } from 'node:fs'
import { listAuditKeys } from '../../accounts/transparency/signing-keys.ts'
import { writeBurnRules } from '../../alerts/burn-rules.ts'
import { reportName } from '../../billing/availability/close-months.ts'
import { announceMaintenance, readExclusions, withdrawMaintenance } from '../../billing/availability/exclusions.ts'
import { isMonth, monthOf } from '../../billing/availability/month.ts'
import {
  findObjective,
  listObjectives,
  measuredBy,
  setObjective,
  usualCredits,
  type Promised,
} from '../../billing/availability/objectives.ts'
import { readCurrent, readReports } from '../../billing/availability/read-reports.ts'
import { showModel } from '../../billing/availability/report.ts'
import { verifyReport } from '../../billing/availability/verify-report.ts'
import type { Config } from '../../config/schema.ts'
import { installationChain } from '../../db/change.ts'
import { formatVerifier, parseVerifier } from '../../lib/signed-note.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { openSigning } from '../../service/joins/audit-anchors.ts'
import {
  operator,
  print,
  printList,
  readOrganizationId,
  requireId,
  withInstallation,
} from '../accounts/with-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { parseMoment } from './period.ts'

const text = { type: 'string' } as const
const options = {
  organization: text,
  month: text,
  availability: text,
  basis: { type: 'string', default: 'minutes' },
  'first-token': text,
  credits: { type: 'string', default: 'usual' },
  from: text,
  until: text,
  reason: text,
  key: text,
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof readArguments>['values']
type Given = { readonly config: Config; readonly subject: string | undefined; readonly values: Values }
type Action = (installation: Installation, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  promises,
  promise,
  report,
  verify,
  keys,
  maintenance,
  announce,
  withdraw,
  rules,
}

const words = {
  promises: 0,
  promise: 0,
  report: 0,
  verify: 1,
  keys: 0,
  maintenance: 0,
  announce: 0,
  withdraw: 1,
  rules: 0,
}

/** `odyssey sla`: what is promised, how available the models were, and whether a report says what the ledger does. */
export async function slaCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', subject] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`sla takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation, config) => action(installation, { config, subject, values }))
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, words })
}

async function promises({ db }: Installation, { values }: Given): Promise<void> {
  const named = values.organization === undefined ? null : requireId(values.organization, 'org')
  const found = await listObjectives(db, operator, named)
  const lines = found.map(({ id, organizationId, effectiveAtMs, ...promised }) => {
    return `${id}  ${organizationId ?? 'everyone'}  from ${toTime(effectiveAtMs)}  ${describePromise(promised)}`
  })
  printList(values.json, 'promises', found, lines)
}

function describePromise({ availabilityPpm, basis, firstTokenMs, credits }: Promised): string {
  const first = firstTokenMs === null ? '' : `, first token within ${firstTokenMs} ms`
  const steps = credits.map(({ belowPpm, percent }) => `${percent} % below ${toPercent(belowPpm)}`)
  return `${toPercent(availabilityPpm)} of ${basis}${first}; gives back ${steps.length === 0 ? 'nothing' : steps.join(', ')}`
}

async function promise({ accounts }: Installation, { values }: Given): Promise<void> {
  if (values.availability === undefined) throw new UsageError('sla promise needs --availability PERCENT, as 99.9.')
  const organizationId = values.organization === undefined ? null : requireId(values.organization, 'org')
  const made = await setObjective(accounts, operator, {
    organizationId,
    effectiveAtMs: values.from === undefined ? null : parseMoment(values.from, '--from'),
    availabilityPpm: parsePercent(values.availability, '--availability'),
    basis: readBasis(values.basis),
    downSharePpm: measuredBy.downSharePpm,
    firstTokenMs: values['first-token'] === undefined ? null : readMs(values['first-token']),
    credits: readCredits(values.credits),
  })
  print(values.json, made, [`${made.id} is in force from ${toTime(made.effectiveAtMs)}: ${describePromise(made)}.`])
}

function readBasis(given: string): Promised['basis'] {
  if (given === 'minutes' || given === 'requests') return given
  throw new UsageError('--basis takes minutes or requests.')
}

function readMs(given: string): number {
  if (!/^[1-9]\d{0,6}$/.test(given)) throw new UsageError('--first-token takes milliseconds, as 2000.')
  return Number(given)
}

/** As `99.9:10,99:25,95:100`. */
function readCredits(given: string): Promised['credits'] {
  if (given === 'usual') return usualCredits
  if (given === 'none') return []
  return given.split(',').map((step) => {
    const [, below, percent] = /^([\d.]+):([1-9]\d?|100)$/.exec(step) ?? []
    if (below === undefined) throw new UsageError('--credits takes usual, none, or steps as 99.9:10,99:25,95:100.')
    return { belowPpm: parsePercent(below, '--credits'), percent: Number(percent) }
  })
}

/** A percentage as millionths: 99.9 is 999,000. */
function parsePercent(given: string, option: string): number {
  const [, whole, fraction = ''] = /^(\d{1,3})(?:\.(\d{1,4}))?$/.exec(given) ?? []
  const ppm = whole === undefined ? NaN : Number(whole) * 10_000 + Number(fraction.padEnd(4, '0'))
  if (!(ppm <= 1_000_000))
    throw new UsageError(`${option} takes a percentage such as 99.9, with four decimals at most.`)
  return ppm
}

function toPercent(ppm: number): string {
  return `${String(Math.floor(ppm / 10_000))}.${String(ppm % 10_000).padStart(4, '0')}`.replace(/\.?0+$/, '') + ' %'
}

/** The signed report of a month that is over, or how a month stands by now. */
async function report(installation: Installation, { config, values }: Given): Promise<void> {
  const { db, accounts } = installation
  const organizationId = readOrganizationId(values.organization, installation)
  const nowMs = accounts.clock.nowMs()
  const month = values.month ?? monthOf(nowMs)
  if (!isMonth(month)) throw new UsageError('--month takes a month such as 2026-11.')
  const [newest] = await readReports(db, operator, { organizationId, month })
  if (newest !== undefined && !values.json) return console.log(newest.note.trimEnd())
  const { currency } = config.billing
  const numbers = await readCurrent(db, operator, { organizationId, month, currency, nowMs })
  const models = numbers.models.map(showModel)
  const lines = models.map(({ model, minutes, requests, uptimePpm, down }) => {
    const shares = [uptimePpm.minutes, uptimePpm.requests].map((ppm) => (ppm === null ? 'nothing' : toPercent(ppm)))
    const counts = `${minutes.down} of ${minutes.counted} minutes down, ${requests.bad} of ${requests.valid} requests bad`
    return `${model}  ${shares[0]} of minutes, ${shares[1]} of requests  (${counts}, ${down.length} times down)`
  })
  const said = lines.length === 0 ? [`Nothing was measured in ${month}.`] : [`${month} is not closed yet:`, ...lines]
  const result = { organizationId, month, isClosed: newest !== undefined, models, note: newest?.note ?? null }
  print(values.json, result, said)
}

/** Ends with 1 when anything is wrong. */
async function verify({ db }: Installation, { subject, values }: Given): Promise<void> {
  if (subject === undefined) throw new UsageError('sla verify needs a file with a report.')
  const given = values.key === undefined ? null : parseVerifier(values.key)
  if (values.key !== undefined && given === null)
    throw new UsageError('--key takes a verifier, as "sla keys" shows it.')
  const keys = given === null ? (await listAuditKeys(db)).map(({ publicKey }) => publicKey) : [given.publicKey]
  const verdict = await verifyReport(db, readFileSync(subject, 'utf8'), keys)
  const { organizationId, month, isSigned, faults } = verdict
  const signed = isSigned ? 'it is signed by this installation' : 'NO key of this installation has signed it'
  const sound = faults.length === 0 ? 'everything in it follows from the ledger' : `${faults.length} found wrong`
  print(values.json, verdict, [
    `${organizationId}, ${month}: ${signed}; ${sound}.`,
    ...faults.map((fault) => `  ${fault}`),
  ])
  if (!isSigned || faults.length > 0) process.exitCode = 1
}

async function keys(installation: Installation, { config, values }: Given): Promise<void> {
  const { db, accounts } = installation
  const name = reportName(await openSigning(config, accounts), readOrganizationId(values.organization, installation))
  const verifiers = (await listAuditKeys(db)).map(({ publicKey }) => formatVerifier({ name, publicKey }))
  printList(values.json, 'keys', verifiers, verifiers)
}

async function maintenance({ db }: Installation, { values }: Given): Promise<void> {
  const found = await readExclusions(db)
  const lines = found.map(({ id, fromMs, untilMs, reason }) => {
    return `${id}  ${toTime(fromMs)} to ${toTime(untilMs)}  ${reason}`
  })
  printList(values.json, 'maintenance', found, lines)
}

async function announce({ accounts }: Installation, { config, values }: Given): Promise<void> {
  const { from, until, reason } = values
  if (from === undefined || until === undefined || reason === undefined)
    throw new UsageError('sla announce needs --from TIME, --until TIME and --reason TEXT.')
  const { noticeHoursMin, maintenanceHoursPerMonthMax: hoursPerMonthMax } = config.availability
  const wanted = { fromMs: parseMoment(from, '--from'), untilMs: parseMoment(until, '--until'), reason }
  const made = await announceMaintenance({ ...accounts, rules: { noticeHoursMin, hoursPerMonthMax } }, operator, wanted)
  print(values.json, made, [`${made.id} is announced, and does not count.`])
}

async function withdraw({ accounts }: Installation, { subject, values }: Given): Promise<void> {
  const id = requireId(subject, 'maint')
  await withdrawMaintenance(accounts, operator, id)
  print(values.json, { id }, [`${id} is withdrawn: that time counts.`])
}

/** For Prometheus; an organization's own promise is measured over the requests of all. */
async function rules({ db, accounts }: Installation, { config, values }: Given): Promise<void> {
  const organizationId = values.organization === undefined ? null : requireId(values.organization, 'org')
  const promised = await listObjectives(db, operator, organizationId)
  const { availabilityPpm } = findObjective(promised, organizationId ?? installationChain, accounts.clock.nowMs())
  const publicUrl = config.server.publicUrl ?? 'http://localhost:8080'
  process.stdout.write(writeBurnRules({ availabilityPpm, publicUrl }))
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}
