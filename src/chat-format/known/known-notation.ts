import type { GrammarBuilder, GrammarTool } from '../tool-format/grammar-parts.ts'
import type { OutputSource, Reading } from '../tool-format/parsing/tool-call-part.ts'
import type { Enclosure, RenderProbe, TemplateToolMessage, ToolFormat } from '../tool-format/tool-format.ts'

/** A notation of calls that cannot be derived from a template's renders: its one file recognises, reads, writes and constrains it. */
export type KnownNotation = {
  /** The format as most templates have it, for an operator who names it. */
  readonly usual: ToolFormat
  /** The format of a template that uses the notation, else null. `prompt` is a rendered conversation with tools. */
  detect(render: RenderProbe, prompt: string): ToolFormat | null
  /** Parses an answer. */
  read(source: OutputSource, format: ToolFormat): Reading
  /** Makes a turn with calls one that the template renders without loss. */
  writeTurn(turn: TemplateToolMessage, format: ToolFormat): TemplateToolMessage
  readonly grammar: {
    /** The text that begins every section, and with that the grammar. */
    trigger(format: ToolFormat): string
    /** Stands around all calls of a turn; empty where each call carries markers of its own. */
    section(format: ToolFormat): Enclosure
    /** The GBNF body of one call. */
    call(builder: GrammarBuilder, tool: GrammarTool, format: ToolFormat): string
  }
}
