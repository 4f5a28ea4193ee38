import { join, relative } from 'node:path'
import type { SettingsFile, Setup, Snippet, SupportedClient } from './client.ts'
import { keyPlaceholder, type Connection } from './connection.ts'
import { renderNewFile } from './settings/render.ts'

/** What a person reads who will set up the client by hand. */
export function describeSetup(client: SupportedClient, setup: Setup, connection: Connection): string {
  const { address, format, key, model, folders } = connection
  const blocks = setup.parts.map((part) => `${headingOf(part, folders.home)}\n\n${codeOf(part)}`)
  const wantsVariable = setup.parts.some((part) => part.kind === 'snippet')
  return [
    `${client.title} at ${address}, in the ${format} format, with ${model.id}\n`,
    ...(wantsVariable && key !== null ? [`The key for the commands and the code\n\nexport ODYSSEY_KEY=${key}\n`] : []),
    ...blocks,
    ...(setup.notes ?? []).map((note) => `${note}\n`),
    ...(key === null ? [`${howToGetAKey(client, setup)}\n`] : []),
  ].join('\n')
}

function headingOf(part: SettingsFile | Snippet, home: string): string {
  return part.kind === 'snippet' ? part.title : tellPath(part.path, home)
}

export function codeOf(part: SettingsFile | Snippet): string {
  return part.kind === 'snippet' ? part.code : renderNewFile(part)
}

/** Short, as people write the paths of their own settings. */
export function tellPath(path: string, home: string): string {
  const inside = relative(home, path)
  return inside.startsWith('..') || inside === path ? path : join('~', inside)
}

function howToGetAKey({ name }: SupportedClient, { parts }: Setup): string {
  const places = [
    ...(parts.some((part) => codeOf(part).includes(keyPlaceholder)) ? [`takes the place of ${keyPlaceholder}`] : []),
    ...(parts.some(({ kind }) => kind === 'snippet') ? ['is read from the variable ODYSSEY_KEY'] : []),
  ]
  const command = `npx odyssey connect ${name} --new-key ${name}`
  return `The key ${places.join(', or ')}. There is none yet; this makes one: ${command}`
}
