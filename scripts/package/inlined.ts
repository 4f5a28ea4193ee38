/**
 * Packages of many small modules that all programs use: they are in the bundle. The others are installed beside it, since
 * some of them look for files of their own.
 */
export const inlined = ['kysely', 'zod'] as const
