import { describe } from 'node:test'
import type { Client } from '../clients/client.ts'
import { clients } from '../clients/clients.ts'
import { ways, type Way } from './outcome.ts'

/** Defines tests for each client and each way of asking. They mostly wait, so all of them run at once. */
export function forEveryClient(define: (client: Client, way: Way) => void): void {
  describe('every client', { concurrency: true }, () => {
    for (const client of clients) {
      describe(client.name, { concurrency: true }, () => {
        for (const way of ways) define(client, way)
      })
    }
  })
}
