/** The first characters of an id; whoever needs all of it copies it. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `${id.slice(0, 12)}…`
}

/** What some scripts and emoji cannot be written without: a joiner between characters that it joins. */
const joiner =
  /((?<=[\p{Script=Arabic}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d](?=[\p{L}\p{Extended_Pictographic}]))/u
/** Signs of direction, ends of lines, and what is as wide as nothing or as blank as a space. */
const unseen = /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0]/u
const joinerOrUnseen = new RegExp(`${joiner.source}|${unseen.source}`, 'gu')

/** Characters that change how others are shown, or are not seen at all, become marks that are. */
export function plainName(name: string): string {
  return name.replaceAll(joinerOrUnseen, (_, kept: string | undefined) => kept ?? '\u25af')
}
