// Takes the bytes of answers apart into records, as the ways differ in which servers send them.

import { arrayStart, ArrayWalk } from '../../lib/json/array-walk.ts'
import { malformed, type ReplicaFault, type ReplicaRecord } from './dialect.ts'

/** A record of one step is a few hundred bytes; those that repeat a whole answer with its probabilities grow to this and no further. */
const recordBytesMax = 64 * 1_024 * 1_024

const lineEnd = 0x0a
const carriageReturn = 0x0d

/** Takes a body apart, piece by piece. */
export interface RecordSplitter {
  push(bytes: Buffer): readonly ReplicaRecord[]
  /** The body has ended: what it ends with. Throws a ReplicaFault where that is within a record. */
  end(): readonly ReplicaRecord[]
}

/** JSON that is parsed where its value is asked for: some records say so much once more that this is not to be read again. */
class JsonRecord {
  readonly kind = 'json'
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get value(): unknown {
    return parse(this.bytes)
  }
}

/** Bytes that come in pieces until they are whole, put together once. */
class Gathered {
  #pieces: Buffer[] = []
  #bytes = 0

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return
    this.#bytes += piece.length
    if (this.#bytes > recordBytesMax) throw malformed('It sent a record without an end.')
    this.#pieces.push(piece)
  }

  /** Returns all that was added, and holds nothing from then on. */
  take(): Buffer {
    const [only] = this.#pieces
    const all = only !== undefined && this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#bytes = 0
    return all
  }
}

/** Takes bytes apart into lines. Half a line is never taken for the whole, not even where it happens to be JSON. */
class Lines {
  readonly #begun = new Gathered()

  get isWithinLine(): boolean {
    return !this.#begun.isEmpty
  }

  push(bytes: Buffer): Buffer[] {
    const lines: Buffer[] = []
    let start = 0
    for (let end = bytes.indexOf(lineEnd); end !== -1; end = bytes.indexOf(lineEnd, start)) {
      const line = this.#ended(bytes.subarray(start, end))
      lines.push(line[line.length - 1] === carriageReturn ? line.subarray(0, -1) : line)
      start = end + 1
    }
    this.#begun.add(bytes.subarray(start))
    return lines
  }

  #ended(rest: Buffer): Buffer {
    if (this.#begun.isEmpty) return rest
    this.#begun.add(rest)
    return this.#begun.take()
  }
}

/** What a line costs that is held, however short it is. */
const lineBytesLeast = 128

const dataField = Buffer.from('data:')
const errorField = Buffer.from('error:')

/** Splits a stream of server-sent events into records, of which each is ended by a blank line. */
export class EventSplitter implements RecordSplitter {
  readonly #lines = new Lines()
  #data: Buffer[] = []
  /** The bytes of the lines that the record has so far. */
  #bytes = 0

  end(): readonly ReplicaRecord[] {
    if (this.#lines.isWithinLine || this.#data.length > 0) throw endedWithin()
    return []
  }

  push(bytes: Buffer): ReplicaRecord[] {
    const records: ReplicaRecord[] = []
    for (const line of this.#lines.push(bytes)) {
      if (beginsWith(line, dataField)) this.#add(line)
      else if (beginsWith(line, errorField)) throw malformed('It ended its answer with an error.')
      else if (line.length === 0 && this.#data.length > 0) records.push(this.#take())
    }
    return records
  }

  #add(line: Buffer): void {
    this.#bytes += Math.max(lineBytesLeast, line.length)
    if (this.#bytes > recordBytesMax) throw malformed('It sent a record without an end.')
    this.#data.push(line.subarray(line[dataField.length] === 0x20 ? dataField.length + 1 : dataField.length))
  }

  #take(): ReplicaRecord {
    const [only] = this.#data
    const data = only !== undefined && this.#data.length === 1 ? only : Buffer.from(this.#data.join('\n'))
    this.#data = []
    this.#bytes = 0
    return data.equals(done) ? { kind: 'done' } : new JsonRecord(data)
  }
}

const done = Buffer.from('[DONE]')

function beginsWith(line: Buffer, field: Buffer): boolean {
  return line[0] === field[0] && line.subarray(0, field.length).equals(field)
}

/** Splits a stream of lines of JSON into records. */
export class LineSplitter implements RecordSplitter {
  readonly #lines = new Lines()

  end(): readonly ReplicaRecord[] {
    if (this.#lines.isWithinLine) throw endedWithin()
    return []
  }

  push(bytes: Buffer): ReplicaRecord[] {
    const lines = this.#lines.push(bytes)
    return lines.filter((line) => line.toString().trim() !== '').map((line) => new JsonRecord(line))
  }
}

/** A whole body that is one record. */
export class WholeBody implements RecordSplitter {
  readonly #body = new Gathered()

  push(bytes: Buffer): readonly ReplicaRecord[] {
    this.#body.add(bytes)
    return []
  }

  end(): readonly ReplicaRecord[] {
    return [new JsonRecord(this.#body.take())]
  }

  toJson(): unknown {
    return parse(this.#body.take())
  }
}

/**
 * A whole body, of which the elements of one array come as records of their own before it, and are left out of it.
 *
 * Parsed at once, an answer with all its probabilities would hold up everything else for a second.
 */
export class ElementsBody implements RecordSplitter {
  readonly #start: Buffer
  readonly #body = new Gathered()
  readonly #element = new Gathered()
  readonly #walk = new ArrayWalk()
  #place: 'before' | 'within' | 'behind' = 'before'
  /** The end of what was searched for the array, which may be the beginning of its start. */
  #searched: Buffer = Buffer.alloc(0)

  constructor(array: string) {
    this.#start = arrayStart(array)
  }

  push(bytes: Buffer): readonly ReplicaRecord[] {
    const start = this.#place === 'before' ? this.#search(bytes) : 0
    const records: ReplicaRecord[] = []
    const end = this.#place === 'within' ? this.#split(bytes, start, records) : start
    if (this.#place === 'behind') this.#body.add(bytes.subarray(end))
    return records
  }

  end(): readonly ReplicaRecord[] {
    if (this.#place === 'within') throw endedWithin()
    return [new JsonRecord(this.#body.take())]
  }

  /** Returns where the array begins; all of the bytes are before it where it was not found. */
  #search(bytes: Buffer): number {
    const text = Buffer.concat([this.#searched, bytes])
    const found = text.indexOf(this.#start)
    const before = this.#searched.length
    this.#searched = text.subarray(Math.max(0, text.length - this.#start.length + 1))
    const start = found === -1 ? bytes.length : found + this.#start.length - before
    this.#body.add(bytes.subarray(0, start))
    if (found !== -1) this.#place = 'within'
    return start
  }

  /** Returns where the array ends. */
  #split(bytes: Buffer, start: number, records: ReplicaRecord[]): number {
    let from = start
    for (let end = this.#walk.endOfElement(bytes, from); end !== -1; end = this.#walk.endOfElement(bytes, from)) {
      this.#element.add(bytes.subarray(from, end))
      const element = this.#element.take()
      if (element.length > 0) records.push(new JsonRecord(element))
      if (bytes[end] !== comma) {
        this.#place = 'behind'
        return end
      }
      from = end + 1
    }
    this.#element.add(bytes.subarray(from))
    return bytes.length
  }
}

const comma = 0x2c

function endedWithin(): ReplicaFault {
  return malformed('Its stream ended within a record.')
}

function parse(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString())
  } catch (error) {
    throw malformed('It sent what is no JSON.', error)
  }
}
