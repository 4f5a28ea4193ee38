import type { Answer, ManagementService } from '../../harness/management-service.ts'
import { samePage } from '../../harness/sign-in.ts'

/** A browser at the service: it keeps cookies as one does, and says where its requests come from. */
export class TestBrowser {
  readonly cookies = new Map<string, string>()
  readonly #service: ManagementService
  readonly #address: string

  constructor(service: ManagementService, address = '192.0.2.1') {
    this.#service = service
    this.#address = address
  }

  async ask(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      ...samePage,
      'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0',
      ...(cookie !== '' && { cookie }),
    }
    const given = body === undefined ? {} : { body }
    const answer = await this.#service.ask({
      method,
      path: `/api/v1/${path}`,
      headers,
      address: this.#address,
      ...given,
    })
    for (const line of [answer.headers['set-cookie'] ?? []].flat() as string[]) this.#keep(line)
    return answer
  }

  /** Another browser with the same cookies, as somebody has who has stolen them. */
  copy(): TestBrowser {
    const copy = new TestBrowser(this.#service, this.#address)
    for (const [name, value] of this.cookies) copy.cookies.set(name, value)
    return copy
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (line.includes('Max-Age=0')) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}
