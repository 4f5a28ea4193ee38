import type { StorageReport } from '../../billing/ledger/write-ahead/row-writer.ts'
import type { Log } from '../../telemetry/log.ts'

export function reportToLog(log: Log): StorageReport {
  return {
    failed: (error, what) => log.error({ error }, what),
    recovered: (what) => log.info(what),
  }
}
