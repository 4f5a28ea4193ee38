/** The guides that are served, in the order of the table of contents. What is written for who works on the program is not among them. */
export const guideGroups: readonly { readonly title: string; readonly files: readonly string[] }[] = [
  { title: 'Start here', files: ['getting-started.md'] },
  {
    title: 'Using the models',
    files: [
      'customers/models.md',
      'customers/limits.md',
      'customers/errors.md',
      'prompt-caching.md',
      'tools-and-json.md',
    ],
  },
  {
    title: 'Clients',
    files: ['clients.md', 'clients/libraries.md', 'clients/coding-agents.md', 'clients/gateways.md'],
  },
  {
    title: 'Your organization',
    files: [
      'dashboard.md',
      'operations/keys.md',
      'operations/limits.md',
      'operations/recordings.md',
      'customers/data.md',
    ],
  },
  {
    title: 'Access',
    files: [
      'operations/sign-in.md',
      'operations/single-sign-on.md',
      'operations/saml.md',
      'operations/directory.md',
      'operations/agents.md',
    ],
  },
  {
    title: 'Running the service',
    files: [
      'operations/running.md',
      'operations/systemd.md',
      'operations/containers.md',
      'operations/compose.md',
      'operations/kubernetes.md',
      'operations/pools.md',
      'operations/storage.md',
      'operations/upgrades.md',
      'operations/litellm.md',
      'operations/billing.md',
      'operations/audit.md',
      'operations/audit-sinks.md',
      'operations/alerts.md',
      'operations/metrics.md',
      'operations/runbooks.md',
      'operations/availability.md',
      'operations/management-api.md',
    ],
  },
]

/** The last part of a guide's address: its file's path without what a reader need not see of it. */
export function slugOf(file: string): string {
  return file
    .replace(/\.md$/, '')
    .replace(/^operations\//, '')
    .replaceAll('/', '-')
}
