import { fileURLToPath } from 'node:url'

/** Weights that are small, fast and say the same every time. It has a file of its own, so that who starts a service loads no engine. */
export const placeholderPath = fileURLToPath(new URL('../../fixtures/weights/placeholder.gguf', import.meta.url))
