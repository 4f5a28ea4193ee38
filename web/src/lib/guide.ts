/** A guide as the build makes it of a file in Markdown. */
export type Guide = { readonly title: string; readonly blocks: readonly Block[] }

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly id: string; readonly text: readonly Inline[] }
  | { readonly kind: 'text'; readonly text: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }

export type Cell = readonly Inline[]

export type Inline =
  | string
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis'; readonly text: readonly Inline[] }
  | { readonly kind: 'link'; readonly href: string; readonly text: readonly Inline[] }

/** One guide in the table of contents. */
export type GuideEntry = { readonly slug: string; readonly title: string; readonly group: string }

/** What the search finds: a guide's section. */
export type GuideSection = {
  readonly id: string
  readonly slug: string
  readonly anchor: string
  readonly guide: string
  readonly title: string
  readonly text: string
}
