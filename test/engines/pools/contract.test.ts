import { systemClock } from '../../../src/lib/clock.ts'
import { replicaKinds } from '../../../src/engines/remote/dialect.ts'
import { describeEngineContract } from '../../contracts/engine.ts'
import { openPlaceholderModel } from '../../harness/engines/placeholder-model.ts'
import { openPool } from '../../harness/engines/open-pool.ts'
import { openStandIn } from '../../harness/engines/stand-in.ts'

for (const kind of replicaKinds) {
  describeEngineContract(`a pool of one ${kind}`, async () => {
    const standIn = await openStandIn({ kind, model: await openPlaceholderModel() })
    // By the real clock: nothing here waits for a pause, and twelve answers at once may be slow to begin on a busy machine.
    const engine = await openPool([{ address: standIn.address, kind }], { clock: systemClock })
    const close = engine.close.bind(engine)
    engine.close = async () => {
      await close()
      await standIn.close()
    }
    return engine
  })
}
