// Takes the bytes of answers apart into records, as the ways differ in which servers send them.

import { malformed, type ReplicaFault, type ReplicaRecord } from './dialect.ts'

/** A record of one step is a few hundred bytes; those that repeat a whole answer with its probabilities grow to this and no further. */
const recordBytesMax = 8 * 1_024 * 1_024

/** Takes a body apart, piece by piece. */
export interface RecordSplitter {
  push(bytes: Buffer): readonly ReplicaRecord[]
  /** The body has ended: what it ends with. Throws a ReplicaFault where that is within a record. */
  end(): readonly ReplicaRecord[]
}

/**
 * Splits a stream of server-sent events into records.
 *
 * Only what a blank line ends is a record: half of one is never taken for the whole, not even where it happens to be JSON.
 */
export class EventSplitter implements RecordSplitter {
  #pending: Buffer = Buffer.alloc(0)
  #data: string[] = []
  /** The characters of the lines that the record has so far. */
  #length = 0

  end(): readonly ReplicaRecord[] {
    if (this.#pending.length > 0 || this.#data.length > 0) throw endedWithin()
    return []
  }

  push(bytes: Buffer): ReplicaRecord[] {
    const all = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    const records: ReplicaRecord[] = []
    let start = 0
    for (let end = all.indexOf(10, start); end !== -1; end = all.indexOf(10, start)) {
      const last = all[end - 1] === 13 && end > start ? end - 1 : end
      this.#line(all.toString('utf8', start, last), records)
      start = end + 1
    }
    this.#pending = all.subarray(start)
    if (this.#pending.length > recordBytesMax) throw endless()
    return records
  }

  #line(line: string, records: ReplicaRecord[]): void {
    if (line.startsWith('data:')) this.#add(line)
    else if (line.startsWith('error:')) throw malformed('It ended its answer with an error.')
    if (line !== '' || this.#data.length === 0) return
    const data = this.#data.join('\n')
    this.#data = []
    this.#length = 0
    records.push(data === '[DONE]' ? { kind: 'done' } : { kind: 'json', value: parse(data) })
  }

  #add(line: string): void {
    this.#length += line.length
    if (this.#length > recordBytesMax) throw endless()
    this.#data.push(line.slice(line[5] === ' ' ? 6 : 5))
  }
}

/** Splits a stream of lines of JSON into records; half a line is never taken for the whole. */
export class LineSplitter implements RecordSplitter {
  #pending: Buffer = Buffer.alloc(0)

  end(): readonly ReplicaRecord[] {
    if (this.#pending.length > 0) throw endedWithin()
    return []
  }

  push(bytes: Buffer): ReplicaRecord[] {
    const all = Buffer.concat([this.#pending, bytes])
    const records: ReplicaRecord[] = []
    let start = 0
    for (let end = all.indexOf(10, start); end !== -1; end = all.indexOf(10, start)) {
      const line = all.toString('utf8', start, end).trim()
      if (line !== '') records.push({ kind: 'json', value: parse(line) })
      start = end + 1
    }
    this.#pending = all.subarray(start)
    if (this.#pending.length > recordBytesMax) throw endless()
    return records
  }
}

/** A whole body that is one record. */
export class WholeBody implements RecordSplitter {
  readonly #pieces: Buffer[] = []
  #bytes = 0

  push(bytes: Buffer): readonly ReplicaRecord[] {
    this.#pieces.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes > recordBytesMax * 8) throw malformed('It sent a body without an end.')
    return []
  }

  end(): readonly ReplicaRecord[] {
    return [{ kind: 'json', value: this.toJson() }]
  }

  toJson(): unknown {
    return parse(Buffer.concat(this.#pieces).toString())
  }
}

function endedWithin(): ReplicaFault {
  return malformed('Its stream ended within a record.')
}

function endless(): ReplicaFault {
  return malformed('It sent a record without an end.')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw malformed('It sent what is no JSON.', error)
  }
}
