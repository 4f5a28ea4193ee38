/** The first characters of an id; whoever needs all of it copies it. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `${id.slice(0, 12)}…`
}

/** Characters that change how others are shown, or are not seen at all, become marks that are. */
export function plainName(name: string): string {
  return name.replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '\u25af')
}
