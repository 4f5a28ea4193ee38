import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type NoticeFilter = { readonly url: string; close(): Promise<void> }

/** The type byte of a NotificationResponse in PostgreSQL's protocol. Nobody asked for it, so it comes alone. */
const notification = 'A'.charCodeAt(0)

/** A way to PostgreSQL on which everything arrives but the notices, as through a pooler that does not know of them. */
export async function openNoticeFilter(serverUrl: string): Promise<NoticeFilter> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  const filter = createServer((client) => {
    const server = connect({ host: target.hostname, port: Number(target.port) })
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes: Buffer) => {
        if (from === client || bytes[0] !== notification) to.write(bytes)
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve, reject) => filter.once('error', reject).listen(0, '127.0.0.1', resolve))
  const url = new URL(serverUrl)
  url.port = String((filter.address() as AddressInfo).port)
  return {
    url: url.href,
    async close() {
      const closed = new Promise((resolve) => filter.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
