import { RunningService } from '../../src/cli/running-service.ts'
import { readServiceFile } from '../../src/service/status/service-file.ts'

/** The service on a data folder, as the commands of its machine see it. */
export function runningServiceOf(home: string): RunningService {
  const file = readServiceFile(home)
  if (file === null) throw new Error(`No service runs on ${home}.`)
  return new RunningService(file)
}
