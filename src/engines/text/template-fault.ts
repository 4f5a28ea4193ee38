const templateFaultLead = 'The chat template of the weights does not render.'

/** Why weights with such a template cannot be loaded, which no later try will change. */
export function templateFault(fault: string): string {
  return `${templateFaultLead} ${fault}`
}

/** What is wrong with the template, where that was the reason; any other is the operator's alone to know. */
export function templateFaultIn(reason: string | null): string | null {
  return reason?.startsWith(templateFaultLead) === true ? reason : null
}
