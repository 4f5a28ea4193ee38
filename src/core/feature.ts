/** What an engine may lack; a request that needs a lacking feature is refused by name. */
export const features = ['tools', 'json-output', 'logprobs', 'logit-bias', 'images', 'output-min'] as const
export type Feature = (typeof features)[number]
