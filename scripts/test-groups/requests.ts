import { importGroup } from './import-tests.ts'

await importGroup('requests')
