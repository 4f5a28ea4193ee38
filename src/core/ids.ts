export type RequestId = `req_${string}`
export type OrganizationId = `org_${string}`
export type ProjectId = `proj_${string}`
export type ApiKeyId = `key_${string}`
export type MemberId = `mem_${string}`
export type ManagementKeyId = `mkey_${string}`
