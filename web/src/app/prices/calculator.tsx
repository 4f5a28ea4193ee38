import { useState } from 'react'
import { formatExactMoney, formatMoney } from '../../format/money.ts'
import { Select, TextField } from '../../kit/field.tsx'
import { Card, Grid, Stack } from '../../kit/page.tsx'
import { modelIds, type ModelId } from '../models.ts'
import type { Price } from '../queries.ts'
import { kinds, type RateName } from './kinds.ts'

type Counts = Readonly<Record<RateName, string>>
const none: Counts = { input: '', cacheRead: '', cacheWriteShort: '', cacheWriteLong: '', output: '' }
/** More is a typing error, and no request has it. */
const digitsMax = 15

/** What tokens of each kind cost at a model's price of now. It is worked out here: nothing is charged by it. */
export function Calculator({ priceOf }: { readonly priceOf: (model: ModelId) => Price | undefined }) {
  const [model, setModel] = useState<ModelId>(modelIds[0])
  const [counts, setCounts] = useState(none)
  const price = priceOf(model)
  const rates = price?.rates ?? null
  const currency = price?.currency ?? 'USD'
  const micros = rates === null ? '0' : costOf(rates, counts)
  return (
    <Card title="What would it cost?">
      <Stack>
        <Grid least={140} isLevel>
          <Select
            label="Model"
            value={model}
            choices={modelIds.map((id) => ({ value: id, label: id }))}
            onChoice={setModel}
          />
          {kinds.map(([kind, name]) => (
            <TextField
              key={kind}
              label={`${name}, tokens`}
              inputMode="numeric"
              autoComplete="off"
              placeholder="0"
              value={counts[kind]}
              fault={toTokens(counts[kind]) === null ? 'A whole number of tokens.' : undefined}
              onText={(text) => setCounts({ ...counts, [kind]: text })}
            />
          ))}
        </Grid>
        <p role="status">
          {rates === null ? (
            `${model} has no price: requests cost nothing.`
          ) : (
            <>
              Costs{' '}
              <strong title={formatExactMoney(micros, currency)}>
                {formatMoney(micros, { currency, decimals: 6 })}
              </strong>{' '}
              at the price in force.
            </>
          )}
        </p>
      </Stack>
    </Card>
  )
}

/** Null for what is no number; nothing typed is none. Groups may be told apart as people write them. */
function toTokens(typed: string): bigint | null {
  const digits = typed.replaceAll(/[\s,_]/g, '')
  return /^\d*$/.test(digits) && digits.length <= digitsMax ? BigInt(digits || '0') : null
}

/** Exact, in micro-units with six decimals: a rate is for a million tokens. */
function costOf(rates: NonNullable<Price['rates']>, counts: Counts): string {
  const picos = kinds.reduce((sum, [kind]) => sum + (toTokens(counts[kind]) ?? 0n) * BigInt(rates[kind]), 0n)
  return `${picos / 1_000_000n}.${String(picos % 1_000_000n).padStart(6, '0')}`
}
