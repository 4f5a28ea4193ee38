// Writes docs/customers/errors.md, the catalogue of errors, from what the service itself answers.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readErrorCatalogue, type CataloguedError } from '../src/protocols/error-catalogue.ts'

const faults: Readonly<Record<CataloguedError['fault'], string>> = {
  caller: 'the request',
  operator: 'the service',
  load: 'nobody: it passes',
}
const retries: Readonly<Record<CataloguedError['retry'], string>> = {
  no: 'no',
  wait: 'after the time in `retry-after`',
  pause: 'after a pause of your own, which grows',
}

const head = `# Errors

What each error means, whose fault it is, and whether to send the request again. \`npm run errors\` writes
this page from the service's own tables; every example is what the service answers, with other ids and numbers. *There is
nothing with this id* and *It does not go together with what is there* are answers of the
[management API](../operations/management-api.md) alone, which puts the same words into a shape of its own.

\`x-should-retry: false\` comes with every error that the same request meets again. Every answer, errors too, has its id
in \`x-request-id\`; an error of the messages format has it in its body besides. An error after a stream has begun comes
as the stream's last event, with the status 200 that was sent before.
`

/** The page as it should be. */
export function writeErrorPage(): string {
  const errors = readErrorCatalogue()
  const rows = errors.map(({ title, fault, retry, examples: [first] }) => {
    const statuses = new Set([first?.chatCompletions?.status, first?.messages?.status])
    return `| [${title}](#${anchorOf(title)}) | ${[...statuses].join(', ')} | ${faults[fault]} | ${retries[retry]} |`
  })
  const table = ['| Error | Status | Fault of | Try again |', '| - | - | - | - |', ...rows].join('\n')
  return [head, `${table}\n`, ...errors.map(sectionOf)].join('\n')
}

function sectionOf({ title, meaning, advice, fault, retry, examples }: CataloguedError): string {
  const answers = examples.flatMap(({ chatCompletions, messages }) => [
    ...(chatCompletions === null
      ? []
      : [`Chat completions, ${chatCompletions.status}:\n\n${jsonOf(chatCompletions.body)}\n`]),
    ...(messages === null ? [] : [`Messages, ${messages.status}:\n\n${jsonOf(messages.body)}\n`]),
  ])
  const [first] = examples
  const stream = `In a stream of chat completions:\n\n${jsonOf(JSON.parse(first?.chatCompletions?.inStream ?? 'null'))}\n`
  return [
    `## ${title}\n`,
    `${meaning} ${advice}\n`,
    `Fault of ${faults[fault]}. Try again: ${retries[retry]}.\n`,
    ...answers,
    ...(fault === 'operator' ? [stream] : []),
  ].join('\n')
}

function jsonOf(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
}

function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-')
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, '../docs/customers/errors.md'), writeErrorPage())
