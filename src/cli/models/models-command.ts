import { UsageError } from '../usage-error.ts'
import { listModels } from './list-models.ts'
import { pullCommand } from './pull-command.ts'
import { useCommand } from './use-command.ts'

/** `odyssey models`: shows the models, fetches weights for one, or gives it weights that are there. */
export async function modelsCommand(args: string[]): Promise<void> {
  const [action, ...rest] = args
  if (action === 'pull') return pullCommand(rest)
  if (action === 'use') return useCommand(rest)
  if (action === undefined || action.startsWith('-')) return listModels(args)
  throw new UsageError(`models takes pull, use or nothing, and not ${action}.`)
}
