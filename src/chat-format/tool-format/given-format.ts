// A notation as an operator writes it down, where nothing shows it or what a template shows is not what its model has
// learned. It has to come back whole as any other: a slip in it is found out when the weights are loaded.

import { knownNotations } from '../known/notations.ts'
import { deriveThinking } from '../probe-template.ts'
import { historiesFor } from './derive-tool-format.ts'
import { sentinels, tryRender, user } from './probes.ts'
import {
  type DerivedNotation,
  type Enclosure,
  type KnownKind,
  nameSlot,
  plainFrame,
  type RenderProbe,
  type ToolFormat,
} from './tool-format.ts'
import { createTurnCutter } from './turn-frame.ts'
import { keepsHistory, roundTrips } from './verify-format.ts'

/** The texts around the calls of a turn, and between two of them. */
type Around = { readonly section: Enclosure; readonly separator: string }

/** Where `{name}` stands in a literal, the name of the function or of the argument is repeated. */
export type GivenNotation =
  /** Each call is one JSON object between markers, which holds the name and the arguments. */
  | ({ readonly notation: 'envelope'; readonly nameKey: string; readonly argumentsKey: string } & Enclosure & Around)
  /** The name stands between markers, and behind it the arguments as one JSON object. */
  | ({ readonly notation: 'marked'; readonly nameEnd: string } & Enclosure & Around)
  /** The name stands between markers, and every argument between markers of its own. */
  | ({ readonly notation: 'tagged'; readonly nameEnd: string; readonly argument: GivenArgument } & Enclosure & Around)
  /** One of the notations that are known by name; null leaves its own markers. */
  | { readonly notation: KnownKind; readonly section: Enclosure | null }

export type GivenArgument = Enclosure & { readonly nameEnd: string; readonly separator: string }

/** The format of a given notation, with whatever of it the template renders; null where calls do not come back whole. */
export function giveToolFormat(render: RenderProbe, given: GivenNotation): ToolFormat | null {
  // A template that refuses tools, or calls, is never shown any.
  const untold: RenderProbe = (messages, options) => render(messages, { ...options, tools: null })
  return [render, untold].reduce<ToolFormat | null>((found, one) => found ?? withHistory(one, given), null)
}

function withHistory(render: RenderProbe, given: GivenNotation): ToolFormat | null {
  const cutter = createTurnCutter(render, deriveThinking(render).tags)
  const layout = { ...layoutOf(given), textOpen: cutter.textOpenBehind('') }
  const forms = (['object', 'text'] as const).map((form) =>
    historiesFor(render, layout, { ids: { kind: 'any' }, form }),
  )
  const known = isKnown(given) ? [layout] : []
  const formats = [
    ...known,
    ...forms.flatMap(({ asCalls, textApart }) => [...asCalls, ...textApart]),
    ...(forms[0]?.asContent ?? []),
  ]
  // A template may never show a turn of the model that stands last, as no prompt has one.
  const found = formats.find((format) =>
    cutter.ways.length > 0 ? roundTrips(render, cutter, format) : keepsHistory(render, format),
  )
  if (found === undefined) return null
  return { ...found, showsTools: tryRender(render, [user])?.includes(sentinels.names[0]) ?? false }
}

function layoutOf(given: GivenNotation): ToolFormat {
  if (isKnown(given)) {
    const { usual } = knownNotations[given.notation]
    return given.section === null ? usual : { ...usual, section: given.section }
  }
  const { section, separator } = given
  return { ...emptyLayout, notation: notationOf(given), section, separator }
}

type Known = Extract<GivenNotation, { notation: KnownKind }>

function isKnown(given: GivenNotation): given is Known {
  return Object.hasOwn(knownNotations, given.notation)
}

const emptyLayout: Omit<ToolFormat, 'notation' | 'section' | 'separator'> = {
  ...plainFrame,
  callsMax: null,
  endsTurn: true,
  history: {
    argumentsAs: 'content',
    takesTextArguments: false,
    ids: { kind: 'any' },
    textBesideCalls: 'before',
    toolMessages: 'several',
  },
}

function notationOf(given: Exclude<GivenNotation, Known>): DerivedNotation {
  const marks = { open: given.open, close: given.close }
  switch (given.notation) {
    case 'envelope': {
      const { nameKey, argumentsKey } = given
      const pieces = [
        { kind: 'literal', text: `{${JSON.stringify(nameKey)}: "` },
        { kind: 'name' },
        { kind: 'literal', text: `", ${JSON.stringify(argumentsKey)}: ` },
        { kind: 'arguments' },
        { kind: 'literal', text: '}' },
      ] as const
      return { kind: 'envelope', ...marks, nameKey, argumentsKey, idKey: null, pieces }
    }
    case 'marked': {
      const pieces = [{ kind: 'name' }, { kind: 'literal', text: given.nameEnd }, { kind: 'arguments' }] as const
      return { kind: 'marked', ...marks, pieces }
    }
    case 'tagged': {
      const { open, nameEnd, close, separator } = given.argument
      const value = { middle: nameEnd, close: withSlot(close), typed: {}, guard: null, itemName: null }
      return { kind: 'tagged', ...marks, nameEnd: withSlot(given.nameEnd), parameter: { open, separator, ...value } }
    }
  }
}

function withSlot(literal: string): string {
  return literal.replaceAll('{name}', nameSlot)
}
