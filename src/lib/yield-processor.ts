import { platform, setPriority } from 'node:os'

/** Where processors are short, who yields gets a third of what another one gets, and is still never starved. */
export const yieldingPriority = 5

/** Has the calling thread yield the processor to others, where the system knows priorities of single threads. */
export function yieldProcessor(): void {
  // Elsewhere the number 0 stands for the whole process.
  if (platform() === 'linux') setPriority(0, yieldingPriority)
}
