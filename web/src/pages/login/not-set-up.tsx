import { FrontPage } from '../../app/front-page.tsx'
import { Banner } from '../../kit/page.tsx'

/** What stands in the place of signing in as long as nobody can. */
export function NotSetUp() {
  return (
    <FrontPage
      title="Odyssey is not set up yet"
      said="Nobody owns it so far. Whoever starts it in a terminal finds a link there, after “Set up in your browser”. The link works once; starting Odyssey again prints a new one."
    >
      <p>
        Where it runs without a terminal, as a service or in a container, this prints a link:{' '}
        <code>npx odyssey owners link</code>
      </p>
      <Banner kind="info">
        Programs can use the models already, with the first key. The first start has printed it in the terminal, or
        without one written it to the file <code>first-api-key</code> in the data folder.
      </Banner>
    </FrontPage>
  )
}
