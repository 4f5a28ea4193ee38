import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { domain } from '../installation.ts'

type Expectation = {
  readonly comparison: string
  readonly source: string
  readonly value: string | null
  readonly property?: string
}
type Step = {
  readonly step_type: string
  readonly note: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body?: string
  readonly assertions: readonly Expectation[]
  readonly variables: readonly { readonly name: string; readonly property: string }[]
  readonly scripts: readonly string[]
}
type Answered = { readonly status: number; readonly text: string; readonly body: unknown; readonly ms: number }

/** Sends the requests of the file as they stand there, in their order, and checks what it expects of each answer. */
export async function runOktaRequests(file: string, { url, token }: { url: string; token: string }): Promise<string> {
  const { steps } = JSON.parse(readFileSync(file, 'utf8')) as { readonly steps: readonly Step[] }
  const variables = await prepare(url, token)
  const faults: string[] = []
  const requests = steps.filter(({ step_type: type }) => type === 'request')
  for (const step of requests) {
    const answered = await send(step, variables)
    const missed = step.assertions.filter((one) => !isMet(one, answered, variables))
    for (const { property, source, comparison, value } of missed) {
      const found = source === 'response_status' ? answered.status : answered.text.slice(0, 300)
      faults.push(`${step.note}: ${property ?? source} ${comparison} ${value ?? ''}, but it is ${found}`)
    }
    for (const script of step.scripts) runInNewContext(script, { response: { body: answered.text }, assert, log() {} })
    for (const { name, property } of step.variables) variables[name] = String(read(answered.body, property))
  }
  if (faults.length > 0) throw new Error(faults.join('; '))
  return `${requests.length} of ${requests.length}`
}

/** Okta wants to find somebody, and a group; its variables are those that it asks to be set. */
async function prepare(url: string, token: string): Promise<Record<string, string>> {
  const word = randomBytes(4).toString('hex')
  const first = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: `first-${word}@${domain}`,
    name: { givenName: 'First', familyName: 'User' },
    emails: [{ primary: true, value: `first-${word}@${domain}`, type: 'work' }],
    active: true,
  }
  const group = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: `Group ${word}` }
  for (const [path, body] of [['Users', first] as const, ['Groups', group] as const]) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' }
    const made = await fetch(`${url}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(made.status, 201)
  }
  return {
    SCIMBaseURL: url,
    auth: `Bearer ${token}`,
    InvalidUserEmail: `nobody-${word}@${domain}`,
    UserIdThatDoesNotExist: `nobody-${word}`,
    randomEmail: `random-${word}@${domain}`,
    randomUsername: `random-${word}@${domain}`,
    randomUsernameCaps: `RANDOM-${word.toUpperCase()}@${domain.toUpperCase()}`,
    randomGivenName: 'Ran',
    randomFamilyName: 'Dom',
  }
}

function fill(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = variables[name]
    if (value === undefined) throw new Error(`The file wants a variable ${name}.`)
    return value
  })
}

async function send(step: Step, variables: Readonly<Record<string, string>>): Promise<Answered> {
  const headers = Object.entries(step.headers).map(([name, [value = '']]) => [name, fill(value, variables)] as const)
  const startedMs = performance.now()
  const response = await fetch(new URL(fill(step.url, variables)), {
    method: step.method,
    headers: Object.fromEntries(headers),
    ...(step.body !== undefined && step.body !== '' && { body: fill(step.body, variables) }),
  })
  const text = await response.text()
  const ms = performance.now() - startedMs
  return { status: response.status, text, body: text === '' ? {} : JSON.parse(text), ms }
}

/** The value at a path such as `Resources[0].name.familyName`. */
function read(body: unknown, property: string): unknown {
  const names = property.split(/[.[\]]+/).filter((name) => name !== '')
  return names.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], body)
}

function isMet(
  { comparison, source, property = '', value }: Expectation,
  answered: Answered,
  variables: Readonly<Record<string, string>>,
): boolean {
  const of: Readonly<Record<string, () => unknown>> = {
    response_status: () => answered.status,
    response_time: () => answered.ms,
    response_json: () => read(answered.body, property),
  }
  const found = of[source]?.()
  const wanted = fill(value ?? '', variables)
  const comparisons: Readonly<Record<string, () => boolean>> = {
    equal: () => String(found) === wanted,
    equal_number: () => Number(found) === Number(wanted),
    is_a_number: () => typeof found === 'number',
    is_less_than: () => Number(found) < Number(wanted),
    not_empty: () =>
      found !== undefined && found !== null && found !== '' && !(Array.isArray(found) && found.length === 0),
    has_value: () => Array.isArray(found) && found.includes(wanted),
    contains: () => (Array.isArray(found) || typeof found === 'string') && found.includes(wanted),
  }
  const compare = comparisons[comparison]
  if (compare === undefined) throw new Error(`The file compares by ${comparison}.`)
  return compare()
}
