/** What an action is done to, in words that follow a verb. */
const things: Readonly<Record<string, string>> = {
  alerts: 'an alert',
  'alert-channels': 'a channel for alerts',
  'alert-silences': 'a silence of alerts',
  'api-keys': 'an API key',
  'audit-keys': 'the key that signs the log',
  budgets: 'a budget',
  connections: 'a connection for signing in',
  directories: 'a directory',
  'directory-groups': 'a group of a directory',
  domains: 'a domain',
  engines: 'an engine',
  invitations: 'an invitation',
  limits: 'a limit',
  'management-keys': 'a management key',
  members: 'a member',
  organizations: 'the organization',
  prices: 'a price',
  projects: 'a project',
  roles: 'a role',
  'service-accounts': 'a service account',
  sessions: 'a session',
  tiers: 'a plan of limits',
  weights: 'the weights of a model',
}

const verbs: Readonly<Record<string, string>> = {
  accept: 'Accepted',
  acknowledge: 'Acknowledged',
  adopt: 'Took over',
  archive: 'Archived',
  assign: 'Gave',
  create: 'Created',
  disable: 'Disabled',
  enable: 'Enabled',
  enforce: 'Enforced',
  link: 'Linked',
  map: 'Mapped',
  provision: 'Changed by a directory:',
  raise: 'Raised',
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
  verify: 'Verified',
  void: 'Withdrew',
  withdraw: 'Withdrew',
}

/** Such as "Rotated an API key" for `api-keys:rotate`; null for an action that has no words here. */
export function wordsOfAction(action: string): string | null {
  const [thing = '', verb = ''] = action.split(':')
  const [noun, done] = [things[thing], verbs[verb]]
  return noun === undefined || done === undefined ? null : `${done} ${noun}`
}
