// Where coding agents sign their people in: the device flow of OAuth (RFC 8628), and the gateway protocol of Claude Code
// around it. Whatever parameter a client sends beside those that are known is overlooked, as both demand.

import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { settingsIn } from '../../accounts/agents/agent-settings.ts'
import { beginAgentSignIn, waitsMs } from '../../accounts/agents/sign-ins.ts'
import {
  exchangeDeviceCode,
  pollSeconds,
  refreshTokens,
  revokeToken,
  type AgentTokens,
  type TokenRefusal,
} from '../../accounts/agents/tokens.ts'
import type { SignInParts } from '../../accounts/sign-in/parts.ts'
import { claudeCodeModels } from '../../clients/claude-code.ts'
import type { RequestId } from '../../core/ids.ts'
import { FailedAttempts } from '../api/failed-attempts.ts'
import { authenticate } from '../middleware/authenticate.ts'
import type { Door } from '../parts.ts'
import { oneOf, readFields } from '../sso/read-form.ts'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const formBytesMax = 65_536

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

export function addAgentRoutes(app: FastifyInstance, door: Door): void {
  const { accounts, siteUrl } = door.management
  const attempts = new FailedAttempts(accounts.clock, accounts.db)
  const issuer = () => siteUrl()
  app.get('/.well-known/oauth-authorization-server', (_request, reply) =>
    reply.headers(answerHeaders).send({
      issuer: issuer(),
      device_authorization_endpoint: `${issuer()}/oauth/device_authorization`,
      token_endpoint: `${issuer()}/oauth/token`,
      revocation_endpoint: `${issuer()}/oauth/revoke`,
      grant_types_supported: [deviceGrant, 'refresh_token'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none'],
      gateway_protocol_version: 1,
    }),
  )
  app.get('/protocol', (_request, reply) => reply.type('text/markdown; charset=utf-8').send(agentProtocol))
  app.post('/oauth/device_authorization', (request, reply) => begin(door, { request, reply }))
  app.post('/oauth/token', (request, reply) => giveTokens(door, attempts, { request, reply }))
  app.post('/oauth/revoke', async (request, reply) => {
    const fields = await readFields(request.raw, formBytesMax)
    const token = fields === null ? null : oneOf(fields, 'token')
    if (token === null) return refuse(reply, 'invalid_request')
    await revokeToken(partsOf(door, request), token)
    return reply.headers(answerHeaders).code(200).send({})
  })
  app.get('/managed/settings', (request, reply) => giveSettings(door, { request, reply }))
  for (const signal of ['metrics', 'logs', 'traces']) {
    app.post(`/v1/${signal}`, (request, reply) => takeNothing(door, { request, reply }))
  }
}

const answerHeaders = { 'cache-control': 'no-store', 'content-type': 'application/json' } as const

function partsOf({ management }: Door, request: FastifyRequest): SignInParts {
  const { accounts, signIn } = management
  return { ...accounts, signIn, origin: { address: request.ip, requestId: request.id as RequestId } }
}

type OAuthRefusal = TokenRefusal | 'invalid_request' | 'unsupported_grant_type'

function refuse(reply: FastifyReply, error: OAuthRefusal, status = 400): FastifyReply {
  return reply.headers(answerHeaders).code(status).send({ error })
}

async function begin(door: Door, { request, reply }: Exchange): Promise<FastifyReply> {
  if ((await readFields(request.raw, formBytesMax)) === null) return refuse(reply, 'invalid_request')
  const client = request.headers['user-agent'] ?? 'An agent without a name'
  const begun = await beginAgentSignIn(partsOf(door, request), { client, address: request.ip })
  if (begun === null) {
    void reply.header('retry-after', String(waitsMs / 1_000))
    return refuse(reply, 'slow_down', 429)
  }
  const page = `${door.management.siteUrl()}/device`
  return reply.headers(answerHeaders).send({
    device_code: begun.deviceCode,
    user_code: begun.userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?code=${begun.userCode}`,
    expires_in: waitsMs / 1_000,
    interval: pollSeconds,
  })
}

async function giveTokens(door: Door, attempts: FailedAttempts, { request, reply }: Exchange): Promise<FastifyReply> {
  const fields = await readFields(request.raw, formBytesMax)
  const [grant, device, refresh] = ['grant_type', 'device_code', 'refresh_token'].map((name) =>
    fields === null ? null : oneOf(fields, name),
  )
  const parts = partsOf(door, request)
  if (grant === deviceGrant && typeof device === 'string') {
    const answer = await exchangeDeviceCode(parts, device)
    if (answer === 'invalid_grant') await attempts.hold(request.ip, { shown: 'code of an agent' })
    return typeof answer === 'string' ? refuse(reply, answer) : give(reply, answer)
  }
  if (grant === 'refresh_token' && typeof refresh === 'string') {
    const answer = await refreshTokens(parts, refresh)
    if (answer === 'slow_down') return refuse(reply, answer, 429)
    if (answer !== 'invalid_grant') return give(reply, answer)
    await attempts.hold(request.ip, { shown: 'code of an agent' })
    // The status by which Claude Code has its person sign in again.
    return refuse(reply, answer, 401)
  }
  const isKnown = grant === deviceGrant || grant === 'refresh_token' || grant === null
  return refuse(reply, isKnown ? 'invalid_request' : 'unsupported_grant_type')
}

function give(reply: FastifyReply, { access, refresh, lastsSeconds, email }: AgentTokens): FastifyReply {
  return reply.headers(answerHeaders).send({
    access_token: access,
    token_type: 'Bearer',
    expires_in: lastsSeconds,
    refresh_token: refresh,
    email,
  })
}

/** What the person’s organization sets for their agents, and the models under the names by which Claude Code asks. */
async function giveSettings(door: Door, { request, reply }: Exchange): Promise<FastifyReply> {
  const { access } = await authenticate(door, request, null)
  const { organizationId, projectId } = access.principal
  const { catalog } = door.inference
  const [model, smallModel] = [catalog.find('clarke-1.0').model, catalog.find('tycho-1.0').model]
  const usual = { env: claudeCodeModels({ model, smallModel }) }
  const settings = await settingsIn(door.management.accounts, { organizationId, projectId }, usual)
  const checksum = `sha256:${createHash('sha256').update(toSortedJson(settings)).digest('hex')}`
  const headers = { ...answerHeaders, etag: `"${checksum}"` }
  if (request.headers['if-none-match'] === `"${checksum}"`) return reply.headers(headers).code(304).send()
  return reply.headers(headers).send({ uuid: checksum, checksum, settings })
}

/** As the client has it when it computes the checksum of what it holds: sorted at every level, without white space. */
function toSortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toSortedJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toSortedJson(field)}`).join(',')}}`
}

/** Agents tell a gateway how they are used, and log an error where nobody listens. */
async function takeNothing(door: Door, { request, reply }: Exchange): Promise<FastifyReply> {
  await authenticate(door, request, null)
  request.raw.resume()
  return reply.headers(answerHeaders).send({})
}

/** `GET /protocol`: what of the gateway protocol of Claude Code is spoken here, for whoever writes another client. */
const agentProtocol = `# Signing in to this service from a coding agent

A coding agent signs its person in here without a key, by the OAuth device flow. This is the part of the gateway
protocol of Claude Code that is spoken; any other client may use it in the same way.

1. \`GET /.well-known/oauth-authorization-server\` tells the addresses below (RFC 8414).
2. \`POST /oauth/device_authorization\` gives a \`device_code\`, a \`user_code\` and the page at which a person who is
   signed in says that the agent is theirs (RFC 8628). Both codes are good for ten minutes. No parameter is needed; what
   is not known is overlooked. \`429 slow_down\` means that too many of this network wait already.
3. \`POST /oauth/token\` with \`grant_type=urn:ietf:params:oauth:grant-type:device_code\` and the \`device_code\`, every
   five seconds: \`authorization_pending\`, \`slow_down\`, \`access_denied\` and \`expired_token\` are status 400. Then
   it gives an \`access_token\` for an hour, a \`refresh_token\`, and the person's \`email\`.
4. \`POST /oauth/token\` with \`grant_type=refresh_token\` gives the next two. Each refresh token is exchanged once; within
   a minute another process of the same agent may exchange it too, and later it signs the agent out. Status 401 with
   \`invalid_grant\` means that the person has to sign in again: their session here would be over too, they were
   suspended, or their organization lets them in another way by now. \`429 slow_down\` means that tokens were fetched a
   hundred times within an hour: the one that is there stays good for that long.
5. \`Authorization: Bearer ACCESS_TOKEN\` opens \`/v1/messages\`, \`/v1/messages/count_tokens\`, \`/v1/models\` and the
   other routes below \`/v1\`, under the limits and budgets of the person. A token that is over is answered with status
   401 and \`x-should-retry: false\`.
6. \`GET /managed/settings\` gives \`uuid\`, \`checksum\` and \`settings\`, which are what the person's organization and
   project set for their agents, as managed-settings.json has them. The checksum is \`sha256:\` and the SHA-256, in
   hexadecimal, of the settings as JSON with sorted keys and no white space; it is the entity tag too, and
   \`If-None-Match\` is answered with status 304.
7. \`POST /v1/metrics\`, \`/v1/logs\` and \`/v1/traces\` take what an agent tells of itself, and keep none of it.
8. \`POST /oauth/revoke\` with one of the tokens signs the agent out (RFC 7009).
`
