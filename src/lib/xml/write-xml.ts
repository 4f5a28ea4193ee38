/** A text as it stands in an element or an attribute. */
export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"'\t\n\r]/g, (character) => `&#${character.codePointAt(0)};`)
}
