/**
 * Packages of many small modules: they are in the bundle, with what they need themselves. The others are installed beside
 * it, since some of them look for files of their own; so does `node-llama-cpp`, which finds its own where it is installed.
 */
export const inlined = ['kysely', 'node-llama-cpp', 'zod'] as const

/** What they need for what no program of ours has them do, and what they take of it: an engine's process downloads and builds nothing. */
export const unused: Readonly<Record<string, readonly string[]>> = {
  ipull: ['downloadFile', 'downloadSequence', 'DownloadStatus'],
  'simple-git': ['simpleGit'],
}
