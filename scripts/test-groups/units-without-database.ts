import { importTests, roomsWithDatabase } from './import-tests.ts'

await importTests((room) => !roomsWithDatabase.has(room))
