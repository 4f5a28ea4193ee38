import { totalmem } from 'node:os'
import type { Config } from '../config/schema.ts'
import { readDescriptorsMax } from './connections/watch-descriptors.ts'

/** Bounds what one client, one key, and all of them together may take up of the door. */
export type HttpBounds = {
  /** From a request's first byte to its last. */
  readonly requestMsMax: number
  /** A body that arrives more slowly over some seconds is given up. */
  readonly bodyBytesPerSecondMin: number
  readonly connectionsMax: number
  /** Null does not limit them. */
  readonly connectionsPerAddressMax: number | null
  /** The bytes of all bodies under way, as they are sent and as they are once unpacked. */
  readonly bodyBytesMax: number
}

/** What bodies under way take of the machine's memory: each is there several times over while it is read, parsed and handed on. */
const memoryShare = 32
/** Two of the largest bodies, so that one key alone can never take everything. */
const bodyBytesMin = 64 * 1_024 * 1_024

/** Beyond so many, more descriptors only let more strangers in: an idle connection takes some 20 KB. */
const connectionsMost = 8_192
/** Files, the database, engines' pipes, and descriptors that are still being closed. */
const otherDescriptors = 128

/** The bounds that the config file sets; what it leaves open follows from the machine. */
export function readBounds({ server }: Pick<Config, 'server'>): HttpBounds {
  return {
    requestMsMax: server.requestSecondsMax * 1_000,
    bodyBytesPerSecondMin: server.bodyBytesPerSecondMin,
    connectionsMax: server.connectionsMax ?? connectionsFor(readDescriptorsMax()),
    connectionsPerAddressMax: server.connectionsPerAddressMax,
    bodyBytesMax: server.bodyBytesMax ?? Math.max(bodyBytesMin, Math.floor(totalmem() / memoryShare)),
  }
}

/** Descriptors run out after connections do. */
function connectionsFor(descriptorsMax: number | null): number {
  if (descriptorsMax === null) return connectionsMost
  return Math.max(16, Math.min(connectionsMost, Math.floor((descriptorsMax - otherDescriptors) * 0.75)))
}
