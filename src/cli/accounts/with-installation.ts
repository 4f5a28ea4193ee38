import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import type { OrganizationId, ProjectId } from '../../core/ids.ts'
import { openExistingInstallation, type Installation } from '../../service/joins/open-installation.ts'
import { UsageError } from '../usage-error.ts'

/** Whoever can run a command on the data folder may do everything. */
export const operator = { kind: 'operator' } as const

/** Opens the data folder for one command and closes it after. */
export async function withInstallation(
  run: (installation: Installation, config: Config) => Promise<void>,
  open = openExistingInstallation,
): Promise<void> {
  const config = loadConfig()
  const installation = await open(config)
  try {
    await run(installation, config)
  } finally {
    await installation.db.destroy()
  }
}

/** The organization that a command is about; the default one where none is named. */
export function readOrganizationId(text: string | undefined, { home }: Installation): OrganizationId {
  return text === undefined ? home.organizationId : requireId(text, 'org')
}

type ProjectOptions = { readonly organization?: string | undefined; readonly project?: string | undefined }

/** The project that a command is about; the default one of the default organization where none is named. */
export function readProjectId({ home }: Installation, { organization, project }: ProjectOptions): ProjectId {
  if (project !== undefined) return requireId(project, 'proj')
  if (organization === undefined || organization === home.organizationId) return home.projectId
  throw new UsageError('Of another organization this needs --project PROJECT.')
}

/** Throws for what cannot be an id of this kind, rather than looking for it. */
export function requireId<Prefix extends string>(text: string | undefined, prefix: Prefix): `${Prefix}_${string}` {
  if (text?.startsWith(`${prefix}_`) === true) return text as `${Prefix}_${string}`
  throw new UsageError(`${text ?? 'Nothing'} is no id that begins with ${prefix}_.`)
}

/** Reads every page of a list. */
export async function readAll<Item>(
  read: (cursor?: string) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
): Promise<Item[]> {
  const items: Item[] = []
  let page = await read()
  for (;;) {
    items.push(...page.items)
    if (page.next === null) return items
    page = await read(page.next)
  }
}

/** Prints a result for programs, or lines for people. */
export function print(asJson: boolean, result: unknown, lines: readonly string[]): void {
  if (asJson) console.log(JSON.stringify(result))
  else for (const line of lines) console.log(line)
}

/** As `print`, for a list of which a person is told that it is empty. */
export function printList(asJson: boolean, name: string, result: readonly unknown[], lines: readonly string[]): void {
  print(asJson, result, result.length === 0 ? [`${name}: none.`] : lines)
}
