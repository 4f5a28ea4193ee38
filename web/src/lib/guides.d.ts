// The modules that the build makes of the files under docs/.

declare module 'virtual:guides' {
  import type { Guide, GuideEntry } from './guide.ts'

  export const entries: readonly GuideEntry[]
  /** By slug. */
  export const load: Readonly<Record<string, () => Promise<{ readonly default: Guide }>>>
}

declare module 'virtual:guide-sections' {
  import type { GuideSection } from './guide.ts'

  const sections: readonly GuideSection[]
  export default sections
}
