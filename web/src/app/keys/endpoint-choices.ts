export type EndpointName = 'chat-completions' | 'messages' | 'count-tokens' | 'models'
/** What a key may be let ask for, as the API and as pages call it. */
export const endpointChoices: readonly { readonly value: EndpointName; readonly label: string }[] = [
  { value: 'chat-completions', label: 'Chat completions' },
  { value: 'messages', label: 'Messages' },
  { value: 'count-tokens', label: 'Counting tokens' },
  { value: 'models', label: 'List of models' },
]
