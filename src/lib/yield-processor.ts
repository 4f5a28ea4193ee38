import { platform, setPriority } from 'node:os'

/** With this priority a thread gets, where processors are short, a third of what another one gets, and is never starved. */
export const yieldingPriority = 5

/** With this priority a process gets, where processors are short, a tenth of what another one gets, and is never starved. */
export const backgroundPriority = 10

/** Has the calling thread yield the processor to others, where the system knows priorities of single threads. */
export function yieldProcessor(): void {
  // Elsewhere the number 0 stands for the whole process.
  if (platform() === 'linux') setPriority(0, yieldingPriority)
}
