/** What a program will not do, in words for whoever asked for it. */
export class Refused extends Error {}

/** Runs a program; what it refuses is said in its words, and ends it with 2. */
export function runOrRefuse(run: () => void): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    console.error(error.message)
    process.exitCode = 2
  }
}
