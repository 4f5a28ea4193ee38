import { preferences, usePreferences } from '../../app/preferences.ts'
import { Checkbox } from '../../kit/field.tsx'
import { Card, Row, Stack } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'

const themes = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const
const rows = [
  { value: 'normal', label: 'Normal rows' },
  { value: 'compact', label: 'Compact rows' },
] as const

/** How things look in this browser. These alone are kept as soon as they are changed. */
export function PreferencesCard() {
  const chosen = usePreferences()
  return (
    <Card title="Preferences of this browser">
      <Stack>
        <Row>
          <Segments
            name="Theme"
            tabs={themes}
            chosen={chosen.theme}
            onChoice={(theme) => preferences.change({ theme })}
          />
          <Segments
            name="Rows"
            tabs={rows}
            chosen={chosen.rows}
            onChoice={(height) => preferences.change({ rows: height })}
          />
        </Row>
        <Checkbox
          label="Single letters are shortcuts"
          isOn={chosen.hasShortcuts}
          onChange={(hasShortcuts) => preferences.change({ hasShortcuts })}
        />
      </Stack>
    </Card>
  )
}
