import { useState } from 'react'
import styles from '../../app/docs/docs.module.css'
import { fieldsBelow, wordsOfType, type OpenApi, type Schema } from '../../app/docs/openapi.ts'

type Props = { readonly schema: Schema; readonly document: OpenApi }

/** The fields of a schema, with their types and limits; what is below one is shown when it is asked for. */
export function SchemaFields({ schema, document }: Props) {
  const below = fieldsBelow(schema, document)
  if (below?.properties === undefined) return null
  return (
    <ul className={styles.fields}>
      {Object.entries(below.properties).map(([name, field]) => (
        <li key={name} className={styles.field}>
          <code>{name}</code>{' '}
          <small>
            {shorten(wordsOfType(field, document))}
            {below.required?.includes(name) === true && ', needed'}
            {field.default !== undefined &&
              field.default !== null &&
              `, ${JSON.stringify(field.default)} where it is left out`}
          </small>
          {field.description !== undefined && <p>{field.description}</p>}
          <Below name={name} schema={field} document={document} />
        </li>
      ))}
    </ul>
  )
}

/** Schemas may contain themselves, so that nothing below is made before it is opened. */
function Below({ name, schema, document }: Props & { readonly name: string }) {
  const [isOpen, setOpen] = useState(false)
  if (fieldsBelow(schema, document) === null) return null
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Fields of {name}</summary>
      {isOpen && <SchemaFields schema={schema} document={document} />}
    </details>
  )
}

const charactersMax = 160

function shorten(words: string): string {
  return words.length <= charactersMax ? words : `${words.slice(0, charactersMax)}…`
}
