export type RawResponse = {
  /** Null until the head has arrived. */
  readonly status: number | null
  /** Interim answers that came before it. */
  readonly interim: number
  readonly headers: ReadonlyMap<string, string>
  /** The body so far, without its framing. */
  readonly text: string
  /** Bytes of the answer so far, head and framing included. */
  readonly bytes: number
  /** The framing says that this was all: only then has the answer ended and not been cut. */
  readonly isComplete: boolean
  /** What broke the rules of the framing; null while nothing did. */
  readonly fault: string | null
}

type Building = { -readonly [Key in keyof RawResponse]: RawResponse[Key] } & { headers: Map<string, string> }

export interface ResponseReader {
  readonly response: RawResponse
  feed(bytes: Buffer): void
  /** The next bytes belong to the answer of another request. */
  startNext(): void
  close(): void
}

/** Reads answers more strictly than a library would: what no rule allows is noted as a fault. */
export function createResponseReader(): ResponseReader {
  let current = empty()
  let pending: Buffer = Buffer.alloc(0)
  let decoder = new TextDecoder('utf-8', { fatal: true })
  let chunkLeft: number | null = null
  let lengthLeft: number | null = null

  function readHead(): boolean {
    const end = pending.indexOf('\r\n\r\n')
    if (end === -1) return false
    const [statusLine = '', ...lines] = pending.toString('latin1', 0, end).split('\r\n')
    pending = pending.subarray(end + 4)
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]
    if (status === undefined) return fail(`the status line is ${JSON.stringify(statusLine.slice(0, 80))}`)
    // An interim answer has no body, and the real one follows.
    if (status.startsWith('1')) {
      current.interim += 1
      return true
    }
    current.status = Number(status)
    for (const line of lines) {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).toLowerCase()
      if (current.headers.has(name) && name !== 'set-cookie') return fail(`the header ${name} comes twice`)
      current.headers.set(name, line.slice(colon + 1).trim())
    }
    const length = current.headers.get('content-length')
    const isChunked = current.headers.get('transfer-encoding') === 'chunked'
    if (isChunked === (length !== undefined)) return fail('the body has no framing, or two')
    if (length !== undefined) lengthLeft = Number(length)
    return true
  }

  function readCounted(): boolean {
    const taken = take(lengthLeft ?? 0)
    lengthLeft = (lengthLeft ?? 0) - taken
    if (lengthLeft === 0) current.isComplete = true
    return taken > 0
  }

  function readChunked(): boolean {
    if (chunkLeft !== null && chunkLeft > 0) {
      const taken = take(chunkLeft)
      chunkLeft -= taken
      return taken > 0
    }
    const end = pending.indexOf('\r\n')
    if (end === -1) return false
    const line = pending.toString('latin1', 0, end)
    pending = pending.subarray(end + 2)
    // The line that ends a chunk is empty; the next one gives the size of another.
    if (chunkLeft === 0) {
      chunkLeft = null
      return line === '' || fail('a chunk is longer than it said')
    }
    if (!/^[0-9a-f]+$/i.test(line)) return fail(`a chunk has the size ${JSON.stringify(line.slice(0, 40))}`)
    chunkLeft = Number.parseInt(line, 16)
    if (chunkLeft > 0) return true
    if (pending.length < 2) {
      // The last line has not arrived yet: the size is read again together with it.
      pending = Buffer.concat([Buffer.from('0\r\n'), pending])
      chunkLeft = null
      return false
    }
    pending = pending.subarray(2)
    current.isComplete = true
    return false
  }

  function take(limit: number): number {
    const part = pending.subarray(0, limit)
    pending = pending.subarray(part.length)
    try {
      current.text += decoder.decode(part, { stream: true })
    } catch {
      fail('the body is not UTF-8')
    }
    return part.length
  }

  function fail(fault: string): false {
    current.fault ??= fault
    return false
  }

  return {
    get response() {
      return current
    },
    feed(bytes) {
      current.bytes += bytes.length
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
      while (current.fault === null && !current.isComplete && pending.length > 0) {
        const goesOn = current.status === null ? readHead() : lengthLeft !== null ? readCounted() : readChunked()
        if (current.status !== null && lengthLeft === 0) current.isComplete = true
        if (!goesOn) break
      }
    },
    startNext() {
      const unasked = pending.length
      current = empty()
      if (unasked > 0) fail(`${unasked} bytes came that nobody asked for`)
      pending = Buffer.alloc(0)
      decoder = new TextDecoder('utf-8', { fatal: true })
      chunkLeft = null
      lengthLeft = null
    },
    close() {
      if (current.status === null && pending.length > 0) fail('the connection ended within the head')
    },
  }
}

function empty(): Building {
  return { status: null, interim: 0, headers: new Map(), text: '', bytes: 0, isComplete: false, fault: null }
}
