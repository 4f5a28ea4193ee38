import { execFile, type ChildProcess } from 'node:child_process'
import { compileCache, nodeArguments, productProgram } from './as-launched.ts'
import type { Service } from './start-service.ts'

export type CliEnd = { readonly exitCode: number; readonly stdout: string; readonly stderr: string }

/** Whose data folder a command works on, and what its environment says besides. */
export type CliTarget = Pick<Service, 'home'> & {
  readonly environment?: Readonly<Record<string, string>>
  /** The program of another version of the product. */
  readonly program?: string
  /** The number of the user who gives the command, where it is another one; the superuser alone may choose. */
  readonly user?: number | undefined
}

/** Starts an operator's command on a service's data folder. */
export function startCli(
  { home, environment, program = productProgram, user }: CliTarget,
  ...args: string[]
): { readonly child: ChildProcess; readonly ended: Promise<CliEnd> } {
  const env = { PATH: process.env['PATH'] ?? '', ...compileCache, ODYSSEY_HOME: home, ...environment }
  const { promise: ended, resolve } = Promise.withResolvers<CliEnd>()
  const as = user === undefined ? {} : { uid: user, gid: user }
  const words = [...nodeArguments(), program, ...args]
  const child = execFile(process.execPath, words, { env, ...as }, (error, stdout, stderr) => {
    resolve({ exitCode: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr })
  })
  return { child, ended }
}

/** Runs a command, however it ends. */
export function tryCli(service: CliTarget, ...args: string[]): Promise<CliEnd> {
  return startCli(service, ...args).ended
}

/** Runs a command that must end well. Returns what it printed. */
export async function runCli(service: CliTarget, ...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await tryCli(service, ...args)
  if (exitCode !== 0) throw new Error(`odyssey ${args.join(' ')} ended with ${exitCode}: ${stderr}`)
  return stdout
}

/** Makes an organization, which nothing limits unless another tier is named, and returns a key of it. Null leaves it the default tier. */
export async function createOrganizationKey(
  service: Service,
  name: string,
  tier: string | null = 'internal',
): Promise<string> {
  const make = async (...args: string[]) =>
    JSON.parse(await runCli(service, ...args, '--name', name, '--json')) as Readonly<Record<string, string>>
  const { organizationId = '', projectId = '' } = await make('organizations', 'create')
  if (tier !== null) await runCli(service, 'tiers', 'assign', tier, '--organization', organizationId)
  const { key = '' } = await make('keys', 'create', '--organization', organizationId, '--project', projectId)
  return key
}

export async function createKey(
  service: Service,
  name: string,
): Promise<{ readonly id: string; readonly key: string }> {
  return JSON.parse(await runCli(service, 'keys', 'create', '--name', name, '--json')) as { id: string; key: string }
}
