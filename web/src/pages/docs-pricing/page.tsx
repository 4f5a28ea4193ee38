import { api, type AnswerOf } from '../../api/client.ts'
import { toProblem } from '../../api/problem.ts'
import { DocsFrame } from '../../app/docs/docs-frame.tsx'
import { useAnswer } from '../../app/use-answer.ts'
import { formatRate } from '../../format/money.ts'
import { Time } from '../../kit/content.tsx'
import { Banner, Card, Disclosure, Grid, KeyValue, Stack } from '../../kit/page.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'

type Prices = AnswerOf<'GET /api/v1/public/prices'>
type ModelPrice = Prices['data'][number]
type Rates = NonNullable<ModelPrice['announced'][number]['rates']>

/** What the models cost whoever has no price of their own, where the operator lets anybody know. */
export function Page() {
  const prices = useAnswer(readPrices)
  return (
    <DocsFrame title="Pricing" said="For a million tokens. Who has signed in sees their own prices in the dashboard.">
      {prices.isPending && <Skeleton />}
      {prices.data === null && (
        <>
          <Banner>The operator of this service does not publish prices.</Banner>
          <p>
            Who runs it: <code>billing.publicPrices</code> in the config file shows them here.
          </p>
        </>
      )}
      {!prices.isPending && prices.data === undefined && <Banner kind="bad">The prices could not be read.</Banner>}
      {prices.data !== null && prices.data !== undefined && <Cards prices={prices.data} />}
    </DocsFrame>
  )
}

/** Null where they are not for everybody. */
async function readPrices(): Promise<Prices | null> {
  if (document.documentElement.dataset['prices'] === undefined) return null
  try {
    return await api('GET /api/v1/public/prices', {})
  } catch (error) {
    if (toProblem(error).status === 404) return null
    throw error
  }
}

function Cards({ prices: { currency, data } }: { readonly prices: Prices }) {
  return (
    <Grid>
      {data.map(({ model, current, announced }) => (
        <Card key={model} title={model}>
          <Stack>
            {current?.rates ? (
              <>
                <RateList rates={current.rates} currency={currency} />
                <p>
                  In force since <Time at={current.effectiveAt} />
                </p>
              </>
            ) : (
              <p>Free of charge.</p>
            )}
            {announced.map(({ rates, effectiveAt }) => (
              <Disclosure key={effectiveAt} title={<>From {effectiveAt.slice(0, 10)} on</>}>
                {rates === null ? <p>Free of charge.</p> : <RateList rates={rates} currency={currency} />}
              </Disclosure>
            ))}
          </Stack>
        </Card>
      ))}
    </Grid>
  )
}

function RateList({ rates, currency }: { readonly rates: Rates; readonly currency: string }) {
  const money = (micros: number) => formatRate(micros, currency)
  return (
    <KeyValue
      rows={[
        ['Input', money(rates.input)],
        ['Cache read', money(rates.cacheRead)],
        ['Cache write, 5 min', money(rates.cacheWriteShort)],
        ['Cache write, 1 h', money(rates.cacheWriteLong)],
        ['Output', money(rates.output)],
      ]}
    />
  )
}
