/**
 * What an engine may lack; a request that needs a lacking feature is refused by name. No request needs
 * `generic-tools`: it says that tools are described in the system text, where the template has no place for them.
 */
export const features = [
  'tools',
  'generic-tools',
  'json-output',
  'logprobs',
  'logit-bias',
  'images',
  'output-min',
] as const
export type Feature = (typeof features)[number]
