/** What an action is done to, in words that follow a verb. */
const things: Readonly<Record<string, string>> = {
  alerts: 'an alert',
  'alert-channels': 'a channel for alerts',
  'alert-silences': 'a silence of alerts',
  'api-keys': 'an API key',
  audit: 'the audit log',
  'audit-keys': 'the key that signs the log',
  'audit-sinks': 'a sink of the audit',
  budgets: 'a budget',
  connections: 'a connection for signing in',
  directories: 'a directory',
  'directory-groups': 'a group of a directory',
  domains: 'a domain',
  engines: 'an engine',
  installation: 'the installation',
  'installation-members': 'somebody who runs the installation',
  invitations: 'an invitation',
  ledger: 'the list of requests',
  limits: 'a limit',
  'management-keys': 'a management key',
  maintenance: 'maintenance',
  members: 'a member',
  objectives: 'a promise of availability',
  organizations: 'the organization',
  prices: 'a price',
  projects: 'a project',
  roles: 'a role',
  'service-accounts': 'a service account',
  sessions: 'a session',
  settings: 'the settings of the organization',
  tiers: 'a plan of limits',
  usage: 'the sums of usage',
  weights: 'the weights of a model',
}

const verbs: Readonly<Record<string, string>> = {
  accept: 'Accepted',
  acknowledge: 'Acknowledged',
  adopt: 'Took over',
  announce: 'Announced',
  archive: 'Archived',
  assign: 'Gave',
  configure: 'Started with other settings:',
  create: 'Created',
  disable: 'Disabled',
  enable: 'Enabled',
  enforce: 'Enforced',
  expire: 'Deleted the oldest rows of',
  export: 'Saved',
  import: 'Imported',
  link: 'Linked',
  map: 'Mapped',
  provision: 'Changed by a directory:',
  raise: 'Raised',
  read: 'Looked at',
  refuse: 'Refused a wish of',
  relax: 'No longer enforced',
  remove: 'Removed',
  rename: 'Renamed',
  resend: 'Made a new link for',
  restore: 'Restored',
  revoke: 'Revoked',
  rotate: 'Rotated',
  set: 'Set',
  suspend: 'Suspended',
  test: 'Tried',
  trust: 'Trusted',
  update: 'Changed',
  use: 'Used',
  verify: 'Verified',
  void: 'Withdrew',
  withdraw: 'Withdrew',
}

/** What reads otherwise. */
const sentences: Readonly<Record<string, string>> = {
  'domains:lapse': 'Stopped counting a domain, whose record is gone',
  'domains:miss': 'Did not find the record of a domain',
  'domains:return': 'Found the record of a domain again',
  'sessions:refuse': 'Did not let somebody sign in',
}

/** Such as "Rotated an API key" for `api-keys:rotate`; null for an action that has no words here. */
export function wordsOfAction(action: string): string | null {
  const sentence = sentences[action]
  if (sentence !== undefined) return sentence
  const [thing = '', verb = ''] = action.split(':')
  const [noun, done] = [things[thing], verbs[verb]]
  if (noun === undefined || done === undefined) return null
  return `${done} ${noun}`
}
