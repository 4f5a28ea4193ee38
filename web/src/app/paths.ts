/** Every page's address. The build hands this table to the service, which serves pages at these addresses alone. */
export const paths = {
  start: '/',
  setup: '/setup',
  login: '/login',
  invite: '/invite',
  docsGuides: '/docs',
  docsGuide: '/docs/guides/:guide',
  docsApi: '/docs/api',
  docsErrors: '/docs/errors',
  docsMigrate: '/docs/migrate',
  docsPricing: '/docs/pricing',
  portal: '/portal',
  account: '/account',
  device: '/device',
  home: '/o/:organizationId',
  quickstart: '/o/:organizationId/quickstart',
  keys: '/o/:organizationId/keys',
  key: '/o/:organizationId/keys/:apiKeyId',
  playground: '/o/:organizationId/playground',
  usage: '/o/:organizationId/usage',
  requests: '/o/:organizationId/requests',
  request: '/o/:organizationId/requests/:requestId',
  refusals: '/o/:organizationId/refusals',
  availability: '/o/:organizationId/availability',
  limits: '/o/:organizationId/limits',
  budgets: '/o/:organizationId/budgets',
  alerts: '/o/:organizationId/alerts',
  prices: '/o/:organizationId/prices',
  projects: '/o/:organizationId/projects',
  members: '/o/:organizationId/members',
  member: '/o/:organizationId/members/:memberId',
  roles: '/o/:organizationId/roles',
  serviceAccounts: '/o/:organizationId/service-accounts',
  serviceAccount: '/o/:organizationId/service-accounts/:serviceAccountId',
  signIn: '/o/:organizationId/sign-in',
  managementKeys: '/o/:organizationId/management-keys',
  audit: '/o/:organizationId/audit',
  settings: '/o/:organizationId/settings',
  models: '/installation/models',
  installationPrices: '/installation/prices',
  organizations: '/installation/organizations',
  installationAudit: '/installation/audit',
  installationSettings: '/installation/settings',
} as const

export type PageName = keyof typeof paths
export type PageParams = Readonly<Record<string, string>>

/** Finds the page that an address means. */
export function findPage(path: string): { readonly name: PageName; readonly params: PageParams } | null {
  const parts = split(path)
  for (const [name, pattern] of Object.entries(paths)) {
    const params = matchParts(split(pattern), parts)
    if (params !== null) return { name: name as PageName, params }
  }
  // Documents are for everybody, and so is that there is none: nobody has to sign in to be told.
  return path.startsWith('/docs/') ? { name: 'docsGuide', params: {} } : null
}

/** Whether a page is of the installation, for which a role in an organization counts nothing. */
export function isOfInstallation(name: PageName): boolean {
  return paths[name].startsWith('/installation/')
}

export function pagePath(name: PageName, params: PageParams = {}): string {
  return paths[name].replaceAll(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
}

function split(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}

function matchParts(pattern: readonly string[], parts: readonly string[]): PageParams | null {
  if (pattern.length !== parts.length) return null
  const params: Record<string, string> = {}
  for (const [index, wanted] of pattern.entries()) {
    const part = parts[index] ?? ''
    if (wanted.startsWith(':')) params[wanted.slice(1)] = decode(part)
    else if (wanted !== part) return null
  }
  return params
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
