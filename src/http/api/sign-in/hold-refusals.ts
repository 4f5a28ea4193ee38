import { refusedUserOf } from '../../../accounts/sign-in/refusals.ts'
import { ApiError } from '../../../core/error.ts'
import type { RouteParts } from '../route.ts'

/** Runs a way to sign in; what is refused counts as a failed attempt of the network, and is answered at its pace. */
export async function holdRefusals<Result>(
  { attempts, browser }: Pick<RouteParts, 'attempts' | 'browser'>,
  signIn: () => Promise<Result>,
): Promise<Result> {
  try {
    return await signIn()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'unauthenticated') {
      await attempts.hold(browser.address, { shown: 'sign-in', userId: refusedUserOf(error) })
    }
    throw error
  }
}
