import { setTimeout as wait } from 'node:timers/promises'
import type { Verdicts } from '../verdicts.ts'
import type { Keycloak } from './keycloak.ts'

/** Signs somebody in who was never seen by the browser, and throws where that fails. */
export type Login = () => Promise<void>

/** Descriptions are read by the minute in this installation; OpenID Connect has no such need. */
const readMs = 60_000
/** So soon a description is not read again because of a key that nobody knows. */
const anewMs = 31_000

type Changing = { readonly keycloak: Keycloak; readonly published: KeyChange; readonly logins: readonly Login[] }

/** Changes the key of the realm under people who sign in by both languages: to one published before, and to another. */
export async function tryKeyChange(verdicts: Verdicts, { keycloak, published, logins }: Changing): Promise<void> {
  const signIn = async (rounds: number) => {
    for (let left = rounds; left > 0; left--) {
      for (const login of logins) await login()
    }
    return rounds * logins.length
  }
  await verdicts.try('Keycloak', 'a key that is published before it signs changes without a failed login', async () => {
    await wait(Math.max(0, published.atMs + readMs - performance.now()))
    let done = await signIn(2)
    await published.use()
    done += await signIn(3)
    await published.forgetOld()
    return `${done + (await signIn(2))} logins`
  })
  await verdicts.try('Keycloak', 'a key that signs from one moment to the next does too', async () => {
    await wait(anewMs)
    const done = await signIn(1)
    const change = await publishKey(keycloak)
    await change.use()
    await change.forgetOld()
    return `${done + (await signIn(3))} logins`
  })
}

export type KeyChange = { readonly atMs: number; use(): Promise<void>; forgetOld(): Promise<void> }

/** Another key of the realm: published first, then signing, then alone. */
export async function publishKey(keycloak: Keycloak): Promise<KeyChange> {
  type Component = { readonly id: string; readonly name: string; readonly config: Record<string, string[]> }
  const type = 'org.keycloak.keys.KeyProvider'
  const { id: realmId } = await keycloak.administer<{ id: string }>('GET', '')
  const read = async () => {
    const all = await keycloak.administer<(Component & { providerId: string })[]>('GET', `/components?type=${type}`)
    return all.filter(({ providerId }) => providerId === 'rsa-generated')
  }
  const old = await read()
  const priorities = old.map(({ config }) => Number(config['priority']?.[0] ?? '0'))
  const config = { keySize: ['2048'], algorithm: ['RS256'], enabled: ['true'], active: ['true'] }
  const lower = String(Math.min(...priorities) - 1)
  const name = `key ${old.length + 1} of ${Date.now()}`
  const component = { name, providerId: 'rsa-generated', providerType: type, parentId: realmId }
  await keycloak.administer('POST', '/components', { ...component, config: { ...config, priority: [lower] } })
  return {
    atMs: performance.now(),
    async use() {
      const made = (await read()).find((one) => one.name === name)
      const higher = String(Math.max(...priorities) + 1)
      const changed = { ...made, config: { ...made?.config, priority: [higher] } }
      await keycloak.administer('PUT', `/components/${made?.id}`, changed)
    },
    async forgetOld() {
      for (const { id } of old) await keycloak.administer('DELETE', `/components/${id}`)
    },
  }
}
