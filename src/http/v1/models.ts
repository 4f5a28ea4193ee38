import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServedModel } from '../../core/model.ts'
import { encodeModel, encodeModelList, type ModelListQuery } from '../../protocols/model-list.ts'
import { authenticate } from '../middleware/authenticate.ts'
import type { HttpParts } from '../parts.ts'

/** `GET /v1/models`: one answer that the clients of both formats read. */
export function listModelsRoute(parts: HttpParts) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await authenticate(parts.apiKeys, request.headers)
    const entries = parts.inference.catalog.list()
    const featuresOf = ({ id }: ServedModel) => parts.inference.catalog.find(id).engine.status().features
    const models = entries.map(({ model }) => model)
    await reply
      .type('application/json')
      .send(JSON.stringify(encodeModelList(models, request.query as ModelListQuery, featuresOf)))
  }
}

export function retrieveModelRoute(parts: HttpParts) {
  return async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply): Promise<void> => {
    await authenticate(parts.apiKeys, request.headers)
    const { model, engine } = parts.inference.catalog.find(request.params.id)
    await reply.type('application/json').send(JSON.stringify(encodeModel(model, engine.status().features)))
  }
}
