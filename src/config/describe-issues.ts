import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** The faults of a config file's fields, each told once, in words for whoever wrote it. `nameOf` says where a field was set. */
export function describeIssues(issues: readonly Issue[], nameOf: (field: string) => string): string[] {
  const told = new Map<string, string>()
  for (const issue of issues) {
    const field = issue.path.map(String).join('.')
    // A number that is much too large is told as being too large alone.
    if (!told.has(field)) told.set(field, `${nameOf(field)}: ${describeIssue(issue)}.`)
  }
  return [...told.values()]
}

const kinds: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text in quotes',
  boolean: 'true or false',
  object: 'an object in braces',
  record: 'an object in braces',
  array: 'a list in brackets',
}

function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return isOwn(issue) ? issue.message : `must be ${kinds[issue.expected] ?? issue.expected}`
    case 'unrecognized_keys':
      return `there is no setting ${issue.keys.map((key) => key.slice(0, 100)).join(', ')}`
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`
    case 'too_small':
      if (isOwn(issue)) return issue.message
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`
    case 'too_big':
      return isOwn(issue) ? issue.message : `must be at most ${issue.maximum}`
    default:
      return issue.message.replace(/\.$/, '')
  }
}

/** The schema's own words are better than any made from the kind of fault; the library's begin like this. */
function isOwn({ message }: Issue): boolean {
  return !/^(?:Invalid|Too (?:big|small))/.test(message)
}
