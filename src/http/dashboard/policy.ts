// Content Security Policy with Trusted Types: only the dashboard's own files run, style and connect, and no text ever
// becomes markup. Nothing of it has an exception, so a page that breaks it shows nothing instead of something else.

/** Where browsers report what was stopped. */
export const reportsPath = '/api/v1/csp-reports'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  // Newer browsers go by the second, at addresses with HTTPS only.
  `report-uri ${reportsPath}`,
  'report-to csp',
].join('; ')

const permissions = [
  'camera=()',
  'microphone=()',
  'geolocation=()',
  'payment=()',
  'usb=()',
  'clipboard-write=(self)',
  'publickey-credentials-get=(self)',
  'publickey-credentials-create=(self)',
].join(', ')

/** What is said with every file of the dashboard. */
export const assetHeaders = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const

/** What is said with every page. A page is never kept by anybody, so that an update is seen at once. */
export const pageHeaders = {
  ...assetHeaders,
  'content-security-policy': policy,
  'reporting-endpoints': `csp="${reportsPath}"`,
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': permissions,
  'cache-control': 'no-store',
  vary: 'Accept, Cookie',
} as const
