import { useState } from 'react'
import { toProblem, type Problem } from '../../api/problem.ts'
import type { Schemas } from '../../api/types.ts'
import { ProblemBox } from '../states.tsx'
import { verifyPart } from './queries.ts'
import { formatCounted } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { Banner, Row, Stack } from '../../kit/page.tsx'

type Fault = Schemas['AuditVerdict']['faults'][number]
type Checked = { readonly rows: number; readonly faults: readonly Fault[]; readonly isOver: boolean }

/** Has the chain of the log checked, part by part, and names each row that breaks it. */
export function Verify({ organizationId }: { readonly organizationId: string | null }) {
  const [checked, setChecked] = useState<Checked | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const isBusy = checked !== null && !checked.isOver && problem === null
  const verify = async () => {
    setProblem(null)
    try {
      await verifyAll(organizationId, setChecked)
    } catch (error) {
      setProblem(toProblem(error))
    }
  }
  return (
    <Stack>
      <Row>
        <Button icon="shield" isBusy={isBusy} onClick={() => void verify()}>
          Verify
        </Button>
        <span role="status">
          {checked !== null && `${formatCounted(checked.rows, 'row')} checked${checked.isOver ? '' : ' …'}`}
        </span>
        <code>npx odyssey audit verify</code>
      </Row>
      {problem !== null && <ProblemBox problem={problem} what="The check broke off." onAgain={() => void verify()} />}
      {checked?.isOver && checked.faults.length === 0 && (
        <Banner kind="good">{formatCounted(checked.rows, 'row')}, intact.</Banner>
      )}
      {checked?.faults.map(({ kind, sequence, message }) => (
        <Banner key={`${kind} ${sequence} ${message}`} kind="bad">
          Row {sequence ?? '–'}: {message}
        </Banner>
      ))}
    </Stack>
  )
}

async function verifyAll(organizationId: string | null, show: (checked: Checked) => void): Promise<void> {
  let after: string | undefined
  let checked: Checked = { rows: 0, faults: [], isOver: false }
  show(checked)
  do {
    const verdict = await verifyPart(organizationId, after)
    after = verdict.next ?? undefined
    checked = {
      rows: checked.rows + verdict.rows,
      faults: [...checked.faults, ...verdict.faults],
      isOver: after === undefined,
    }
    show(checked)
  } while (after !== undefined)
}
