import { useState, type ReactNode } from 'react'
import styles from '../../app/docs/docs.module.css'
import { codeOf, type Language } from '../../app/docs/operation-code.ts'
import type { OpenApi, Operation } from '../../app/docs/openapi.ts'
import { pagePath } from '../../app/paths.ts'
import { preferences } from '../../app/preferences.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Code } from '../../kit/content.tsx'
import { SchemaFields } from './schema-fields.tsx'
import { TryOperation } from './try-operation.tsx'

type Props = {
  readonly operation: Operation
  readonly document: OpenApi
  readonly language: Language
  readonly isManagement: boolean
}

/** One operation, folded until somebody wants it. */
export function OperationEntry(props: Props) {
  const { operationId, method, path, summary } = props.operation
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      id={operationId}
      className={styles.operation}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <code className={styles.method}>{method}</code> <code>{path}</code> <span>{summary}</span>
      </summary>
      {isOpen && <Inside {...props} />}
    </details>
  )
}

function Inside({ operation, document, language, isManagement }: Props) {
  const { description, requestBody, responses, method, operationId } = operation
  const body = requestBody?.content['application/json']
  const variable = isManagement ? 'ODYSSEY_MANAGEMENT_KEY' : 'ODYSSEY_KEY'
  const told = { address: window.location.origin, variable, body: body?.example }
  return (
    <div>
      {description !== undefined && (
        <p>
          {description} <a href={`#${operationId}`}>Link to here</a>
        </p>
      )}
      <Parameters operation={operation} document={document} />
      {body !== undefined && (
        <Part title="Body">
          <SchemaFields schema={body.schema} document={document} />
        </Part>
      )}
      <Code label={`Example, with the key in $${variable}`} text={codeOf(language, operation, told)} />
      {Object.entries(responses)
        .filter(([, { $ref }]) => $ref === undefined)
        .map(([status, { description: said, content }]) => (
          <Answer key={status} status={status} said={said} content={content} document={document} />
        ))}
      <p>
        Errors are explained <a href="/docs/errors">on a page of their own</a>.
      </p>
      {isManagement && method === 'GET' && <TryOperation operation={operation} />}
      {!isManagement && body !== undefined && <ToPlayground format={operation.tag} />}
    </div>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

function Parameters({ operation: { parameters = [] }, document }: Pick<Props, 'operation' | 'document'>) {
  if (parameters.length === 0) return null
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description, in: place }) => [
      name,
      { ...schema, description: [`In the ${place}.`, description ?? schema.description].filter(Boolean).join(' ') },
    ]),
  )
  const required = parameters.filter((parameter) => parameter.required === true).map(({ name }) => name)
  return (
    <Part title="Parameters">
      <SchemaFields schema={{ properties, required }} document={document} />
    </Part>
  )
}

type AnswerProps = {
  readonly status: string
  readonly said: string | undefined
  readonly content: Operation['responses'][string]['content']
  readonly document: OpenApi
}

function Answer({ status, said, content, document }: AnswerProps) {
  const json = content?.['application/json']
  return (
    <Part title={status === 'default' ? 'Anything else' : `Answer ${status}`}>
      {said !== undefined && <p>{said}</p>}
      {json !== undefined && <SchemaFields schema={json.schema} document={document} />}
      {json?.example !== undefined && <Code label="Example" text={JSON.stringify(json.example, null, 2)} />}
      {content !== undefined && json === undefined && <p>As {Object.keys(content).join(' or ')}.</p>}
    </Part>
  )
}

function ToPlayground({ format }: { readonly format: string }) {
  const { organizationId } = preferences.current()
  if (organizationId === null) return null
  return (
    <p>
      <LinkButton href={`${pagePath('playground', { organizationId })}?format=${format}`}>
        Open in playground
      </LinkButton>
    </p>
  )
}
