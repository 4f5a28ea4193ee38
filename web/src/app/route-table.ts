import type { ComponentType } from 'react'
import type { IconName } from '../kit/icons.tsx'
import type { PageName, PageParams } from './paths.ts'

export type PageComponent = ComponentType<{ readonly params: PageParams }>
export type Group = 'Build' | 'Observe' | 'Control' | 'Installation'

export type PageRow = {
  readonly title: string
  /** The permission that the page is for; null for everyone who has signed in, and `public` for all. */
  readonly needs: string | null
  readonly menu?: { readonly group: Group; readonly icon: IconName; readonly go?: string }
  readonly load: () => Promise<{ readonly Page: PageComponent }>
}

const documents = () => import('../pages/docs/pages.ts')

/** Every page: the menu, the palette, the shortcuts, the titles and the tests are loops over this table. */
export const routes: Readonly<Record<PageName, PageRow>> = {
  start: { title: 'Odyssey', needs: null, load: () => import('../pages/start/page.tsx') },
  setup: { title: 'Set up', needs: 'public', load: () => import('../pages/setup/page.tsx') },
  login: { title: 'Sign in', needs: 'public', load: () => import('../pages/login/page.tsx') },
  invite: { title: 'Invitation', needs: 'public', load: () => import('../pages/invite/page.tsx') },
  docsGuides: { title: 'Guides', needs: 'public', load: async () => ({ Page: (await documents()).GuidesPage }) },
  docsGuide: { title: 'Guide', needs: 'public', load: async () => ({ Page: (await documents()).GuidePage }) },
  docsApi: { title: 'API reference', needs: 'public', load: async () => ({ Page: (await documents()).ApiPage }) },
  docsErrors: { title: 'Errors', needs: 'public', load: async () => ({ Page: (await documents()).ErrorsPage }) },
  docsMigrate: { title: 'Moving here', needs: 'public', load: async () => ({ Page: (await documents()).MigratePage }) },
  docsPricing: { title: 'Pricing', needs: 'public', load: async () => ({ Page: (await documents()).PricingPage }) },
  portal: { title: 'Your key', needs: 'public', load: () => import('../pages/portal/page.tsx') },
  account: { title: 'Account', needs: null, load: () => import('../pages/account/page.tsx') },
  device: { title: 'Sign in to a coding agent', needs: null, load: () => import('../pages/device/page.tsx') },
  home: {
    title: 'Home',
    needs: null,
    menu: { group: 'Build', icon: 'home', go: 'h' },
    load: () => import('../pages/home/page.tsx'),
  },
  quickstart: {
    title: 'Quickstart',
    needs: 'organizations:read',
    menu: { group: 'Build', icon: 'rocket', go: 'q' },
    load: () => import('../pages/quickstart/page.tsx'),
  },
  keys: {
    title: 'API keys',
    needs: 'api-keys:read',
    menu: { group: 'Build', icon: 'key', go: 'k' },
    load: () => import('../pages/keys/page.tsx'),
  },
  key: { title: 'API key', needs: 'api-keys:read', load: () => import('../pages/key/page.tsx') },
  playground: {
    title: 'Playground',
    needs: 'models:use',
    menu: { group: 'Build', icon: 'terminal', go: 'p' },
    load: () => import('../pages/playground/page.tsx'),
  },
  usage: {
    title: 'Usage and cost',
    needs: 'usage:read',
    menu: { group: 'Observe', icon: 'chart', go: 'u' },
    load: () => import('../pages/usage/page.tsx'),
  },
  requests: {
    title: 'Requests',
    needs: 'requests:read',
    menu: { group: 'Observe', icon: 'list', go: 'r' },
    load: () => import('../pages/requests/page.tsx'),
  },
  request: { title: 'Request', needs: 'requests:read', load: () => import('../pages/request/page.tsx') },
  refusals: {
    title: 'Refusals',
    needs: 'refusals:read',
    menu: { group: 'Observe', icon: 'off' },
    load: () => import('../pages/refusals/page.tsx'),
  },
  availability: {
    title: 'Availability',
    needs: 'availability:read',
    menu: { group: 'Observe', icon: 'good' },
    load: () => import('../pages/availability/page.tsx'),
  },
  limits: {
    title: 'Limits',
    needs: 'limits:read',
    menu: { group: 'Control', icon: 'gauge', go: 'l' },
    load: () => import('../pages/limits/page.tsx'),
  },
  budgets: {
    title: 'Budgets',
    needs: 'budgets:read',
    menu: { group: 'Control', icon: 'wallet', go: 'b' },
    load: () => import('../pages/budgets/page.tsx'),
  },
  alerts: {
    title: 'Alerts',
    needs: 'alerts:read',
    menu: { group: 'Control', icon: 'bell', go: 'e' },
    load: () => import('../pages/alerts/page.tsx'),
  },
  prices: {
    title: 'Prices',
    needs: 'prices:read',
    menu: { group: 'Control', icon: 'tag' },
    load: () => import('../pages/prices/page.tsx'),
  },
  projects: {
    title: 'Projects',
    needs: 'projects:read',
    menu: { group: 'Control', icon: 'folder' },
    load: () => import('../pages/projects/page.tsx'),
  },
  members: {
    title: 'Members',
    needs: 'members:read',
    menu: { group: 'Control', icon: 'users', go: 'm' },
    load: () => import('../pages/members/page.tsx'),
  },
  member: { title: 'Member', needs: 'members:read', load: () => import('../pages/member/page.tsx') },
  roles: {
    title: 'Roles',
    needs: 'roles:read',
    menu: { group: 'Control', icon: 'checks' },
    load: () => import('../pages/roles/page.tsx'),
  },
  serviceAccounts: {
    title: 'Service accounts',
    needs: 'service-accounts:read',
    menu: { group: 'Control', icon: 'bot' },
    load: () => import('../pages/service-accounts/page.tsx'),
  },
  serviceAccount: {
    title: 'Service account',
    needs: 'service-accounts:read',
    load: () => import('../pages/service-account/page.tsx'),
  },
  signIn: {
    title: 'Sign-in and directory',
    needs: 'connections:read',
    menu: { group: 'Control', icon: 'fingerprint' },
    load: () => import('../pages/sign-in/page.tsx'),
  },
  managementKeys: {
    title: 'Management keys',
    needs: 'management-keys:read',
    menu: { group: 'Control', icon: 'shield' },
    load: () => import('../pages/management-keys/page.tsx'),
  },
  audit: {
    title: 'Audit log',
    needs: 'audit:read',
    menu: { group: 'Control', icon: 'book', go: 'a' },
    load: () => import('../pages/audit/page.tsx'),
  },
  settings: {
    title: 'Settings',
    needs: 'organizations:read',
    menu: { group: 'Control', icon: 'settings' },
    load: () => import('../pages/settings/page.tsx'),
  },
  models: {
    title: 'Models and engines',
    needs: 'engines:read',
    menu: { group: 'Installation', icon: 'cpu' },
    load: () => import('../pages/models/page.tsx'),
  },
  installationPrices: {
    title: 'All prices',
    needs: 'prices:update',
    menu: { group: 'Installation', icon: 'tag' },
    load: () => import('../pages/prices/page.tsx'),
  },
  organizations: {
    title: 'Organizations',
    needs: 'organizations:create',
    menu: { group: 'Installation', icon: 'building' },
    load: () => import('../pages/organizations/page.tsx'),
  },
  installationAudit: {
    title: 'Installation log',
    needs: 'audit:read',
    menu: { group: 'Installation', icon: 'book' },
    load: () => import('../pages/audit/page.tsx'),
  },
  installationSettings: {
    title: 'Installation settings',
    needs: 'installation:read',
    menu: { group: 'Installation', icon: 'settings' },
    load: () => import('../pages/installation-settings/page.tsx'),
  },
}

export const menuGroups: readonly Group[] = ['Build', 'Observe', 'Control', 'Installation']
