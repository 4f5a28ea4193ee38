import { ApiError } from '../../core/error.ts'

export function invalidJson(message: string): ApiError {
  return new ApiError({ code: 'invalid-request', path: null, fault: null, detail: 'invalid-json' }, message)
}

export function tooLarge(bytesMax: number, isUnpacked: boolean): ApiError {
  const reason = { code: 'request-too-large', bytesMax, isUnpacked } as const
  return new ApiError(reason, `Request body too large (limit ${bytesMax} bytes).`)
}

export function tooSlow(): ApiError {
  return new ApiError({ code: 'request-timeout' }, 'The request body arrived too slowly.')
}

export function unsupportedEncoding(): ApiError {
  const message = 'The content encoding is not supported; send the body plain or as gzip.'
  return new ApiError({ code: 'unsupported-encoding' }, message)
}
