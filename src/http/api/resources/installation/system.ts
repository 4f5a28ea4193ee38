import { defineRoute, type Route } from '../../route.ts'
import { nowhere, toTime, toTimeOrNull } from '../../schemas.ts'
import { systemAnswer } from './system-schema.ts'

export const systemRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/installation/system',
    permission: 'installation:read',
    scope: 'installation',
    summary: 'Show version, database, disk and every setting with where it comes from',
    params: nowhere,
    answer: systemAnswer,
    async work({ parts: { management } }) {
      const {
        startedAtMs,
        lastBackupAtMs,
        reconciliation,
        settings,
        warnings: found,
        ...system
      } = await management.readSystem()
      return {
        ...system,
        startedAt: toTime(startedAtMs),
        lastBackupAt: toTimeOrNull(lastBackupAtMs),
        reconciliation: reconciliation && { at: toTime(reconciliation.atMs), isEqual: reconciliation.isEqual },
        settings: [...settings],
        warnings: [...found],
      }
    },
  }),
]
