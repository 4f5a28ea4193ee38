import { once } from 'node:events'

/** Writes to standard output and waits while its reader is slower, so that nothing piles up in memory. */
export async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
