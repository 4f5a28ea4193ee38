import type { Database } from '../../../src/db/database.ts'
import { openManagementService, type ManagementService } from '../management-service.ts'

/** Another gateway over the database of one, which stays open when it is closed. */
export function secondGateway({ db, clock }: ManagementService): Promise<ManagementService> {
  const shared = new Proxy<Database>(db, {
    get(target, name) {
      if (name === 'destroy') return () => Promise.resolve()
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return openManagementService(shared, {}, clock)
}
