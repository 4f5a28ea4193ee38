const lengthMax = 254
const localPart = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/
const label = /^[\dA-Za-z](?:[\dA-Za-z-]{0,61}[\dA-Za-z])?$/

/**
 * Whether a text is one e-mail address and nothing else: no name, no quotes, no comment, no second one.
 *
 * What this takes, no mail server reads in two ways, and it cannot end a line of a message's head. Domains of other
 * scripts are written as `xn--`.
 */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  if (at < 0 || text.length > lengthMax || !localPart.test(local)) return false
  return !/^\.|\.\.|\.$/.test(local) && domain.split('.').every((part) => label.test(part))
}

/** The domain of an address, in small letters. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}
