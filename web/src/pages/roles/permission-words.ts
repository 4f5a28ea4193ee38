/** Permissions that belong together, each with what it lets somebody do, in the order in which they are shown. */
type PermissionGroup = { readonly title: string; readonly words: Readonly<Record<string, string>> }

const groups: readonly PermissionGroup[] = [
  {
    title: 'Organization',
    words: {
      'organizations:read': 'See the organization',
      'organizations:update': 'Rename the organization',
      'organizations:create': 'Create organizations',
      'organizations:disable': 'Disable organizations',
      'settings:read': 'See settings',
      'settings:update': 'Change settings',
      'audit:read': 'Read the audit log',
      'audit-sinks:read': 'See where the audit log is sent',
      'audit-sinks:update': 'Change where the audit log is sent',
    },
  },
  {
    title: 'Projects',
    words: {
      'projects:read': 'See projects',
      'projects:create': 'Create projects',
      'projects:update': 'Change projects',
      'projects:archive': 'Archive projects',
    },
  },
  {
    title: 'Members and roles',
    words: {
      'members:read': 'See members',
      'members:create': 'Invite members',
      'members:update': 'Give roles and projects, suspend members',
      'members:remove': 'Remove members',
      'sessions:read': 'See where members are signed in',
      'sessions:revoke': 'Sign members out',
      'roles:read': 'See roles',
      'roles:create': 'Create roles',
      'roles:update': 'Change roles',
      'roles:remove': 'Remove roles',
    },
  },
  {
    title: 'API keys',
    words: {
      'api-keys:read': 'See API keys',
      'api-keys:create': 'Create API keys',
      'api-keys:update': 'Change API keys',
      'api-keys:rotate': 'Rotate API keys',
      'api-keys:disable': 'Disable and enable API keys',
      'api-keys:revoke': 'Revoke API keys',
      'models:use': 'Ask models in the playground',
    },
  },
  {
    title: 'Service accounts and management keys',
    words: {
      'service-accounts:read': 'See service accounts',
      'service-accounts:create': 'Create service accounts',
      'service-accounts:update': 'Rename, disable and enable service accounts',
      'service-accounts:remove': 'Remove service accounts',
      'management-keys:read': 'See management keys',
      'management-keys:create': 'Create management keys',
      'management-keys:revoke': 'Revoke management keys',
    },
  },
  {
    title: 'Single sign-on and directories',
    words: {
      'connections:read': 'See identity providers',
      'connections:create': 'Connect identity providers',
      'connections:update': 'Change identity providers',
      'connections:remove': 'Remove identity providers',
      'connections:enforce': 'Make a provider the only way in',
      'directories:read': 'See directories',
      'directories:create': 'Connect directories',
      'directories:update': 'Change directories',
      'directories:remove': 'Remove directories',
    },
  },
  {
    title: 'Limits and budgets',
    words: {
      'limits:read': 'See limits',
      'limits:update': 'Set limits',
      'limits:ask': 'Ask for higher limits',
      'tiers:read': 'See plans of limits',
      'tiers:update': 'Change plans of limits',
      'tiers:assign': 'Give an organization a plan',
      'budgets:read': 'See budgets',
      'budgets:update': 'Set budgets',
    },
  },
  {
    title: 'Alerts',
    words: {
      'alerts:read': 'See alerts',
      'alerts:update': 'Acknowledge alerts',
      'alert-channels:read': 'See where alerts go',
      'alert-channels:update': 'Change where alerts go, silence them',
    },
  },
  {
    title: 'Usage, cost and availability',
    words: {
      'usage:read': 'See usage and cost',
      'requests:read': 'See requests, without what was said',
      'recordings:read': 'Read what was said in requests, where that is kept',
      'recordings:update': 'Have what is said in requests kept',
      'refusals:read': 'See what was refused',
      'prices:read': 'See prices',
      'prices:update': 'Set prices',
      'availability:read': 'See availability',
      'objectives:update': 'Set what availability is promised',
      'invoices:read': 'See statements',
      'invoices:adjust': 'Correct balances',
    },
  },
  {
    title: 'Installation',
    words: {
      'engines:read': 'See engines and models',
      'engines:update': 'Change what models run on',
      'installation:read': 'See the installation’s settings',
      'installation:update': 'Change the installation’s settings',
      'weights:read': 'See files of weights',
      'weights:update': 'Choose weights on the command line',
    },
  },
]

const others = 'Others'
const found = new Map(
  groups.flatMap(({ title, words }) => Object.entries(words).map(([name, said]) => [name, { title, said }] as const)),
)

/** What a permission lets somebody do; its own name where the service knows more than this page. */
export function wordsOfPermission(name: string): string {
  return found.get(name)?.said ?? name
}

/** The permissions among these by what they belong to, in a lasting order. */
export function groupPermissions(
  names: readonly string[],
): readonly { readonly title: string; readonly names: readonly string[] }[] {
  const order = [...found.keys()]
  const sorted = names.toSorted((one, other) => rankIn(order, one) - rankIn(order, other))
  const titles = [...groups.map(({ title }) => title), others]
  return titles.flatMap((title) => {
    const own = sorted.filter((name) => (found.get(name)?.title ?? others) === title)
    return own.length === 0 ? [] : [{ title, names: own }]
  })
}

function rankIn(order: readonly string[], name: string): number {
  const rank = order.indexOf(name)
  return rank === -1 ? order.length : rank
}
