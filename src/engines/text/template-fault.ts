const templateFaultLead = 'The chat template of the weights does not render.'
const overrideFaultLead = 'The chat format in the configuration does not fit the chat template.'

/** Why weights with such a template cannot be loaded, which no later try will change. */
export function templateFault(fault: string): string {
  return `${templateFaultLead} ${fault}`
}

/** Why weights cannot be loaded with what an operator has said of their template. */
export function overrideFault(fault: string): string {
  return `${overrideFaultLead} ${fault}`
}

/** What is wrong with the template, or what is said of it, where that was the reason; any other is the operator's alone to know. */
export function templateFaultIn(reason: string | null): string | null {
  const isIts = [templateFaultLead, overrideFaultLead].some((lead) => reason?.startsWith(lead) === true)
  return isIts ? reason : null
}
