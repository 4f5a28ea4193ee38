export const modelIds = ['clarke-1.0', 'hal-1.0', 'tycho-1.0'] as const
export type ModelId = (typeof modelIds)[number]
export const modelChoices = modelIds.map((id) => ({ value: id, label: id }))
