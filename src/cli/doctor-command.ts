import { existsSync } from 'node:fs'
import { ConfigError } from '../config/config-error.ts'
import { loadConfig } from '../config/load.ts'
import { examine } from '../service/doctor/examine.ts'
import { fault, fine, type Finding } from '../service/doctor/finding.ts'
import { systemClock } from '../lib/clock.ts'
import type { Progress } from '../models/download/fetch-file.ts'
import { createProgress } from './models/progress.ts'
import { parseArguments } from './parse-arguments.ts'
import { findRunningService } from './running-service.ts'

const marks = { fine: 'ok', warning: 'look', fault: 'FAULT' } as const

/** Says what is wrong with an installation and what to do about it. The exit code is 1 where the service would not work. */
export async function doctorCommand(args: string[]): Promise<void> {
  const { values } = parseArguments({ args, options: { json: { type: 'boolean' } } })
  const findings = await examineInstallation()
  if (values.json === true) console.log(JSON.stringify({ findings }))
  else for (const line of findings.flatMap(describe)) console.log(line)
  if (findings.some(({ level }) => level === 'fault')) process.exitCode = 1
}

async function examineInstallation(): Promise<readonly Finding[]> {
  try {
    const config = loadConfig()
    return [
      fine('settings', `The settings can be used; ${describeFile(config.configPath)}.`),
      ...(await examine(config, { findService: findRunningService, progress: progressOfTerminal() })),
    ]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message
      .split('\n')
      .map((line) => fault('settings', line, 'Mend it: the service does not start with it.'))
  }
}

function describeFile(path: string): string {
  return existsSync(path) ? `the config file is ${path}` : `there is no config file, which would be ${path}`
}

/** Large weights take minutes, in which a person would think that nothing happens; a program waits for the end. */
function progressOfTerminal(): Progress | null {
  const { stderr } = process
  if (!stderr.isTTY) return null
  return createProgress({ write: (text) => void stderr.write(text), isTerminal: true, clock: systemClock })
}

function describe({ about, level, says, todo }: Finding): string[] {
  const indent = ' '.repeat(marks.fault.length + 2)
  return [`${marks[level].padEnd(indent.length)}${about}: ${says}`, ...(todo === null ? [] : [`${indent}→ ${todo}`])]
}
