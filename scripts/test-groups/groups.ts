import { globSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/**
 * Tests of the whole door that share a process, by the program that runs them and where they are.
 *
 * Each needs most of the service's modules, whose loading takes a second of a processor, and the code that was compiled
 * while the first ones ran. What watches its own process, or holds many connections open, has one of its own.
 */
const groups = {
  accounts: ['test/accounts/*.test.ts'],
  'management-api': ['test/http/api/*.test.ts'],
  requests: [
    'test/http/{count-limits,cross-origin,csp-reports,encoder-faults,endings,escaped-paths,key-rules,limits}.test.ts',
    'test/http/{liveness,metrics,queueing,refusals,silence,third-format,tiers}.test.ts',
  ],
} as const satisfies Record<string, readonly string[]>

export type GroupName = keyof typeof groups

/** The paths of a group's test files from the root of the repository. */
export function filesOf(name: GroupName): readonly string[] {
  return globSync(groups[name], { cwd: root }).toSorted()
}

/** The program of each group, from the root of the repository. */
export const groupPrograms: ReadonlyMap<string, GroupName> = new Map(
  (Object.keys(groups) as GroupName[]).map((name) => [`scripts/test-groups/${name}.ts`, name]),
)
