import type { ChatTemplate } from './chat-template.ts'
import type { TemplateTraits } from './probe-template.ts'
import { callTurn, sentinelCalls, tryRender, user } from './tool-format/probes.ts'
import { toTemplateCalls } from './tool-format/to-template-calls.ts'
import type { ToolFormat } from './tool-format/tool-format.ts'
import { createTurnCutter } from './tool-format/turn-frame.ts'

/** What was derived from a chat template, for the operator to look at. */
export type FitnessReport = {
  /** `own` is the template's notation; `generic` is described in the system text; `none` means that nothing renders. */
  readonly tools: 'own' | 'generic' | 'none'
  readonly notation: string | null
  /** An operator has written the notation down. */
  readonly isConfigured: boolean
  /** A call as the model is to write it. */
  readonly exampleCall: string | null
  /** How replayed calls and their results are handed to the template. */
  readonly history: { readonly calls: string; readonly results: string } | null
  readonly thinking: { readonly open: string; readonly close: string; readonly switch: string } | null
  readonly system: string
  readonly lateSystem: string
}

export type Derived = {
  readonly template: ChatTemplate
  readonly traits: TemplateTraits
  readonly toolFormat: ToolFormat | null
  readonly isGiven?: boolean
}

export function reportFitness({ template, traits, toolFormat, isGiven = false }: Derived): FitnessReport {
  const { thinkingTags, thinkingSwitch } = traits
  const thinking =
    thinkingTags === null
      ? null
      : { open: thinkingTags.open, close: thinkingTags.close, switch: switches[thinkingSwitch] }
  return {
    tools: toolFormat === null ? 'none' : toolFormat.isGeneric ? 'generic' : 'own',
    notation: toolFormat?.notation.kind ?? null,
    isConfigured: isGiven,
    exampleCall: toolFormat === null ? null : exampleOf(template, traits, toolFormat),
    history: toolFormat === null ? null : historyOf(toolFormat),
    thinking,
    system: traits.takesSystem ? 'a turn of its own' : 'the beginning of the first user turn',
    lateSystem: traits.takesLateSystem ? 'where it stands' : 'marked, in the next user turn',
  }
}

const switches: Readonly<Record<TemplateTraits['thinkingSwitch'], string>> = {
  flag: 'by the template',
  none: 'by an empty block behind the prompt',
  never: 'cannot be switched off',
}

function historyOf({ history: { argumentsAs, toolMessages } }: ToolFormat) {
  const isWritten = argumentsAs === 'content' || argumentsAs === 'own-notation'
  return {
    calls: isWritten ? 'written into the text of the turn' : `rendered by the template (${argumentsAs})`,
    results: toolMessages === 'none' ? 'as user turns' : 'as turns of role tool',
  }
}

function exampleOf(template: ChatTemplate, traits: TemplateTraits, format: ToolFormat): string | null {
  const render = template.probe
  const [call] = sentinelCalls(format.history.ids)
  const shown = { ...call, name: 'get_weather', arguments: { place: 'Oslo', days: 3 } }
  const rendered = tryRender(render, [user, ...toTemplateCalls(format, [callTurn([shown], 'object')])])
  const output = rendered === null ? null : createTurnCutter(render, traits.thinkingTags).cutOutput(rendered)
  // The prompt may have opened the thinking, whose end is no part of a call.
  const close = traits.thinkingTags?.close ?? ''
  const written = output?.trim() ?? null
  return close !== '' && written?.startsWith(close) ? written.slice(close.length).trimStart() : written
}

/** The report in lines that can be read. */
export function describeFitness(report: FitnessReport): string[] {
  const { tools, notation, exampleCall, history, thinking } = report
  const named = {
    own: `${report.isConfigured ? 'as configured' : 'the template’s own'} (${notation ?? ''})`,
    generic: 'generic, described in the system text',
    none: 'none',
  }
  return [
    `Tools: ${named[tools]}`,
    ...(exampleCall === null ? [] : ['Example of a call:', ...exampleCall.split('\n').map((line) => `    ${line}`)]),
    ...(history === null ? [] : [`Calls in the history: ${history.calls}`, `Results: ${history.results}`]),
    thinking === null
      ? 'Thinking: none'
      : `Thinking: ${JSON.stringify(thinking.open)} … ${JSON.stringify(thinking.close)}, switched off ${thinking.switch}`,
    `System text: ${report.system}; later on: ${report.lateSystem}`,
    tools === 'none' ? 'Round trip: not possible' : 'Round trip: every turn that was tried came back as it went in',
  ]
}
