/** The documents besides each single guide, in the order in which they stand above all of them. */
export const documentList = [
  ['docsGuides', 'Guides'],
  ['docsApi', 'API reference'],
  ['docsErrors', 'Errors'],
  ['docsMigrate', 'Moving here'],
  ['docsPricing', 'Pricing'],
] as const
