import { escapeXml } from '../../../src/lib/xml/write-xml.ts'
import { codeOf } from '../../src/app/docs/operation-code.ts'
import {
  fieldsBelow,
  operationsOf,
  resolve,
  wordsOfType,
  type OpenApi,
  type Operation,
  type Schema,
} from '../../src/app/docs/openapi.ts'

type Reference = {
  readonly document: OpenApi
  /** Where the service is in examples, and in which variable of the shell the key. */
  readonly address: string
  readonly variable: string
}

/** Every operation of an API with all of its fields, as HTML. */
export function writeReference(reference: Reference): string {
  const operations = operationsOf(reference.document)
  const contents = [...new Set(operations.map(({ tag }) => tag))].map((tag) => {
    const items = operations
      .filter((operation) => operation.tag === tag)
      .map(
        ({ operationId, method, path }) =>
          `<li><a href="#${operationId}"><code>${method} ${escapeXml(path)}</code></a></li>`,
      )
    return `<h2>${escapeXml(tag)}</h2><ul>${items.join('')}</ul>`
  })
  return [...contents, ...operations.map((operation) => writeOperation(operation, reference))].join('\n')
}

function writeOperation(operation: Operation, { document, address, variable }: Reference): string {
  const { operationId, method, path, summary, description, parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json']
  const example = codeOf('curl', operation, { address, variable, body: body?.example })
  const given = Object.fromEntries(
    parameters.map(({ name, schema, description: said, in: place }) => {
      const words = [`In the ${place}.`, said ?? schema.description].filter(Boolean).join(' ')
      return [name, { ...schema, description: words }]
    }),
  )
  const required = parameters.filter((parameter) => parameter.required === true).map(({ name }) => name)
  const answers = Object.entries(responses).map(([status, { $ref, description: said, content }]) => {
    if ($ref !== undefined) return ''
    const json = content?.['application/json']
    return [
      `<h3>${status === 'default' ? 'Anything else' : `Answer ${status}`}</h3>`,
      ...(said === undefined ? [] : [`<p>${escapeXml(said)}</p>`]),
      ...(json === undefined ? [] : [writeFields(json.schema, document)]),
      ...(json?.example === undefined
        ? []
        : [writeCode(`Answer of ${operationId}`, JSON.stringify(json.example, null, 2))]),
      ...(content !== undefined && json === undefined
        ? [`<p>As ${escapeXml(Object.keys(content).join(' or '))}.</p>`]
        : []),
    ].join('\n')
  })
  return [
    `<section id="${operationId}" aria-labelledby="${operationId}-title">`,
    `<h2 id="${operationId}-title"><a href="#${operationId}"><code>${method} ${escapeXml(path)}</code></a></h2>`,
    `<p>${escapeXml(summary)}. ${escapeXml(description ?? '')}</p>`,
    ...(parameters.length === 0 ? [] : ['<h3>Parameters</h3>', writeFields({ properties: given, required }, document)]),
    ...(body === undefined ? [] : ['<h3>Body</h3>', writeFields(body.schema, document)]),
    writeCode(`Example of ${operationId}`, example),
    ...answers,
    '</section>',
  ].join('\n')
}

function writeCode(name: string, text: string): string {
  return `<pre tabindex="0" role="region" aria-label="${escapeXml(name)}"><code>${escapeXml(text)}</code></pre>`
}

/** The fields below a schema with those below each; one that contains itself is written once. */
function writeFields(schema: Schema, document: OpenApi, above: ReadonlySet<string> = new Set()): string {
  const below = fieldsBelow(schema, document)
  if (below?.properties === undefined) return ''
  const self = JSON.stringify(below)
  if (above.has(self)) return '<p>With the same fields again.</p>'
  const items = Object.entries(below.properties).map(([name, field]) => {
    const facts = [
      wordsOfType(field, document),
      ...(below.required?.includes(name) === true ? ['needed'] : []),
      ...(field.default === undefined || field.default === null
        ? []
        : [`${JSON.stringify(field.default)} where it is left out`]),
    ]
    const said = field.description ?? resolve(field, document).description
    return (
      `<li><code>${escapeXml(name)}</code> <small>${escapeXml(facts.join(', '))}</small>` +
      (said === undefined ? '' : `<p>${escapeXml(said)}</p>`) +
      `${writeFields(field, document, new Set([...above, self]))}</li>`
    )
  })
  return `<ul class="fields">${items.join('')}</ul>`
}
