import { UsageError } from '../usage-error.ts'
import { allClients } from './clients/all-clients.ts'
import { isSupported, type SupportedClient } from './clients/client.ts'

export function findClient(name: string): SupportedClient {
  const client = allClients.find((known) => known.name === name)
  if (client === undefined) {
    throw new UsageError(`There is no client ${name}; there are ${allClients.map((known) => known.name).join(', ')}.`)
  }
  if (!isSupported(client)) throw new Error(client.reason)
  return client
}

/** The clients, with the formats that each can be set to. */
export function listClients(): string {
  const lines = allClients.map((client) => {
    const formats = isSupported(client) ? client.formats.join(', ') : 'cannot be connected'
    return `  ${client.name.padEnd(20)} ${client.title.padEnd(28)} ${formats}`
  })
  return ['Clients, and the formats that they can use:', '', ...lines, '', help].join('\n')
}

const help = `odyssey connect CLIENT            prints the settings and tries them with one call
  --key KEY                       the key to use; else ODYSSEY_KEY, else a placeholder
  --new-key NAME                  makes a key by this name and uses it
  --write                         puts the settings into the client's own file
  --model MODEL                   hal-1.0, clarke-1.0 (unless said otherwise) or tycho-1.0
  --format chat|messages          for clients that can use either
  --base-url ADDRESS              of a service on another machine or behind a proxy
  --no-check                      makes no call
  --home FOLDER                   where the client's files lie, in place of the own home folder`
