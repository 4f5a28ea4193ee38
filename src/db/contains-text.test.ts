import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { containsText } from './contains-text.ts'

onEachDatabase(({ open }) => {
  test('a text is found whatever the capitals of any alphabet, and what patterns are made of stands for itself', async () => {
    const db = await open()
    const names = ['Öffentlich', 'МОСКВА', '100 % a_b', String.raw`a\b`, 'Plain', '(x)* [y] $^{1}|?.+']
    for (const [number, name] of names.entries()) {
      const id = `org_${number}` as const
      await db.insertInto('organizations').values({ id, name, created_at: 1, disabled_at: null }).execute()
    }
    const find = async (text: string) =>
      (
        await db
          .selectFrom('organizations')
          .select('name')
          .where(containsText(db, 'name', text))
          .execute()
      ).map(({ name }) => name)
    for (const text of ['Öffentlich', 'öff', 'ÖFF']) deepEqual(await find(text), ['Öffentlich'], text)
    for (const text of ['(x)* [y] $^{1}|?.+', '*', '[Y]', '$^{1}|?.+', '1}'])
      deepEqual(await find(text), ['(x)* [y] $^{1}|?.+'], text)
    for (const text of ['МОСКВА', 'Москва', 'москв']) deepEqual(await find(text), ['МОСКВА'], text)
    deepEqual(
      [await find('%'), await find('_'), await find('\\'), await find('pLAIN')],
      [['100 % a_b'], ['100 % a_b'], [String.raw`a\b`], ['Plain']],
    )
    await db.destroy()
  })
})
