/** Where a service listens that nobody has told otherwise, as the guides have it. */
const exampleAddress = /http:\/\/(?:127\.0\.0\.1|localhost):8080\b/g

/** A guide's text with the address at which it is being read, so that what is copied of it works. */
export function withOwnAddress(text: string): string {
  return text.replaceAll(exampleAddress, window.location.origin)
}
