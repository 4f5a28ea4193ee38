import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/layers.tsx'
import { preferences, usePreferences } from './preferences.ts'
import styles from './shell.module.css'

/** Every key that does something. Single letters can be switched off in the preferences. */
const shortcuts: readonly (readonly [string, string])[] = [
  ['⌘K or Ctrl K', 'Find a page, a key, a member or a request'],
  ['?', 'This list'],
  ['/', 'To the first filter'],
  ['c', 'The page’s main action'],
  ['x', 'Choose several keys'],
  ['j  k', 'Next and previous row'],
  ['[  ]', 'Previous and next record'],
  ['r', 'Read the data anew'],
  [
    'g h',
    'Home; then q quickstart, k keys, p playground, u usage, r requests, l limits, b budgets, a audit, m members',
  ],
  ['Esc', 'Close what is open'],
]

/** What stands under `?`. */
export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const { hasShortcuts } = usePreferences()
  return (
    <Dialog
      title="Keys"
      isOpen
      onClose={onClose}
      said={hasShortcuts ? 'Single letters act outside of fields.' : 'Single letters are switched off.'}
    >
      <dl className={styles.keys}>
        {shortcuts.map(([key, does]) => (
          <Shortcut key={key} name={key} does={does} />
        ))}
      </dl>
      <Button onClick={() => preferences.change({ hasShortcuts: !hasShortcuts })}>
        {hasShortcuts ? 'Switch single letters off' : 'Switch single letters on'}
      </Button>
    </Dialog>
  )
}

function Shortcut({ name, does }: { readonly name: string; readonly does: string }) {
  return (
    <>
      <dt>
        <kbd>{name}</kbd>
      </dt>
      <dd>{does}</dd>
    </>
  )
}
