import { z } from 'zod'

/** A name that follows `env:` in the config file: the value itself stands in no file. */
export const fromEnvironment = z.string().regex(/^env:[A-Z_][A-Z0-9_]*$/, 'must be env: and the name of a variable')

const name = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'must be letters, digits, dots and hyphens')
  .refine((given) => given !== 'made', 'must not be made, by which the metrics name all sinks of no config file')
const format = z.enum(['json', 'ocsf']).default('json')
/** Whether it is given what is done from its first start on, or the audit from its first row. */
const from = z.enum(['now', 'begin']).default('now')
/** A file in PEM; a relative path counts from the config file's folder. */
const pemFile = z.string().min(1).nullable().default(null)
const tls = {
  /** Whom to trust in place of the usual authorities. */
  caFile: pemFile,
  /** What to show of ourselves, together with its key. */
  certificateFile: pemFile,
  keyFile: pemFile,
}

const webhook = z.strictObject({
  kind: z.literal('webhook'),
  name,
  address: z.url({ protocol: /^https$/ }),
  format,
  from,
  /** The variable with what signs, as `whsec_` and base64; null does not sign. */
  secret: fromEnvironment.nullable().default(null),
  /** A header by which the receiver knows who sends; its value stands in a variable. */
  header: z
    .strictObject({ name: z.string().min(1), value: fromEnvironment })
    .nullable()
    .default(null),
  ...tls,
})

const syslog = z.strictObject({
  kind: z.literal('syslog'),
  name,
  /** As tls://siem.example.com:6514. */
  address: z.string().regex(/^tls:\/\/[^/\s]+$/, 'must be an address such as tls://siem.example.com:6514'),
  format,
  from,
  ...tls,
})

const file = z.strictObject({
  kind: z.literal('file'),
  name,
  /** A relative path counts from the config file's folder. */
  path: z.string().min(1),
  format,
  from,
})

/** Where the audit of the whole installation is pushed to. */
export const sinks = z
  .array(z.discriminatedUnion('kind', [webhook, syslog, file]))
  .refine((all) => new Set(all.map((one) => one.name)).size === all.length, 'must not give a name twice')
  .default([])

export type SinkSettings = z.output<typeof sinks>[number]

/** The variables in which what a sink needs stands. */
export function variablesOfSink(sink: SinkSettings): readonly string[] {
  if (sink.kind !== 'webhook') return []
  return [sink.secret, sink.header?.value].flatMap((value) => value?.slice('env:'.length) ?? [])
}
