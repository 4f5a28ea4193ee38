/** What an organization is told about where it asks to be. `channel.test` is sent by the test button alone. */
export const alertTopics = [
  'audit.broken',
  'audit.deletion-held',
  'availability.burning',
  'budget.threshold',
  'certificate.ending',
  'cost.unusual',
  'disk.near-full',
  'domain.record-missing',
  'engine.crash-loop',
  'key.ending',
  'key.new-network',
  'request.finished',
  'requests.failing',
  'spool.growing',
  'usage.hour',
] as const

export type AlertTopic = (typeof alertTopics)[number]

/** Topics that come with every request or hour, which would flood a log: only webhooks take them. */
export const usageTopics: readonly AlertTopic[] = ['request.finished', 'usage.hour']

export const channelKinds = ['webhook', 'email', 'log'] as const
export type ChannelKind = (typeof channelKinds)[number]

/** How the audit is pushed to a sink. Only the config file names files: whoever may make sinks is not thereby to write on the disk. */
export const sinkKinds = ['webhook', 'syslog', 'file'] as const
export type SinkKind = (typeof sinkKinds)[number]

export const sinkFormats = ['json', 'ocsf'] as const
export type SinkFormat = (typeof sinkFormats)[number]
