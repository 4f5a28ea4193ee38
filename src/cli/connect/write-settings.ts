import type { SettingsFile, SupportedClient } from './clients/client.ts'
import { keyToWrite, type Connection } from './connection.ts'
import { tellPath } from './describe-setup.ts'
import { describeEdits } from './settings/describe-edits.ts'
import { planFile, type FilePlan } from './settings/plan-file.ts'
import { writePlan } from './settings/write-plan.ts'

type Planned = { readonly file: SettingsFile; readonly plan: FilePlan }

/** What will become of the client's files. Throws when one of them must not be touched. */
export function planSettings(client: SupportedClient, connection: Connection): Planned[] {
  const files = client.setUp(connection).parts.filter((part) => part.kind === 'file')
  if (files.length === 0) {
    throw new Error(
      `${client.title} has no settings file that could be written. Without --write its settings are printed.`,
    )
  }
  return files.map((file) => ({ file, plan: planFile(file) }))
}

/** Writes the client's files and tells what changed in them. They are read anew: the client may have written meanwhile. */
export function writeSettings(client: SupportedClient, connection: Connection): string {
  const told = planSettings(client, connection).map((planned) => writeOne(planned, connection))
  return told.join('\n\n')
}

function writeOne({ file, plan }: Planned, connection: Connection): string {
  const name = tellPath(file.path, connection.folders.home)
  if (plan.edits.length === 0) return `${name} says so already.`
  const key = keyToWrite(connection)
  const backup = writePlan(plan, plan.after.includes(key))
  const history = backup === null ? 'is new' : `is changed; the old one is ${tellPath(backup, connection.folders.home)}`
  return [`${name} ${history}`, ...describeEdits(plan.edits, key)].join('\n')
}
