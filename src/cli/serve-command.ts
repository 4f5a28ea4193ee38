import { serve } from '../service/serve.ts'
import { parseArguments } from './parse-arguments.ts'

/** `odyssey serve`, which takes its settings from the environment and the configuration file alone. */
export async function serveCommand(args: string[]): Promise<void> {
  parseArguments({ args })
  await serve()
}
