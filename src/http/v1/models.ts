import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServedModel } from '../../core/model.ts'
import { encodeModel, encodeModelList, type ModelListQuery } from '../../protocols/model-list.ts'
import { authenticate, mayUse, unknownModel } from '../middleware/authenticate.ts'
import type { HttpParts } from '../parts.ts'

/** `GET /v1/models`: one answer that the clients of both formats read. */
export function listModelsRoute(parts: HttpParts) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { access } = await authenticate(parts, request, 'models')
    const entries = parts.inference.catalog.list().filter(({ model }) => mayUse(access, model.id))
    const featuresOf = ({ id }: ServedModel) => parts.inference.catalog.find(id).engine.status().features
    const models = entries.map(({ model }) => model)
    await reply
      .type('application/json')
      .send(JSON.stringify(encodeModelList(models, request.query as ModelListQuery, featuresOf)))
  }
}

export function retrieveModelRoute(parts: HttpParts) {
  return async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply): Promise<void> => {
    const { access } = await authenticate(parts, request, 'models')
    const { id } = request.params
    const entry = parts.inference.catalog.list().find(({ model }) => model.id === id)
    // To a key that may not use a model there is none.
    if (entry === undefined || !mayUse(access, entry.model.id)) throw unknownModel(access, id)
    const { model, engine } = entry
    await reply.type('application/json').send(JSON.stringify(encodeModel(model, engine.status().features)))
  }
}
