/** REST client: JSON requests, decoded JSON replies, and a `WireError` for every failure. */

import { type Decoder, decode } from './decode';
import { problem } from './decoders';
import { WireError } from './error';

/** Snapshot of state as of a sequence; messages up to this sequence are contained in it. */
export interface Snapshot<T> {
  sequence: number;
  value: T;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Fetch = (path: string, init: RequestInit) => Promise<Response>;

/** A call that takes longer is aborted, in milliseconds. */
const TIMEOUT_MS = 15_000;
/** Browsers let a request of up to 64 KiB outlive its page; this leaves room for characters of several bytes. */
const KEEPALIVE_LENGTH_MAX = 30_000;

export class Rest {
  constructor(private readonly fetch: Fetch) {}

  async get<T>(path: string, decoder: Decoder<T>): Promise<T> {
    return (await this.snapshot(path, decoder)).value;
  }

  async text(path: string): Promise<string> {
    return (await this.call('GET', path)).text().catch(unreached);
  }

  async snapshot<T>(path: string, decoder: Decoder<T>): Promise<Snapshot<T>> {
    const response = await this.call('GET', path);
    const sequence = Number(response.headers.get('rialto-sequence') ?? 0);
    return { sequence, value: decode(decoder, await read(response)) };
  }

  /** With the ETag of the value, for the `If-Match` of a later change. */
  async tagged<T>(path: string, decoder: Decoder<T>): Promise<{ tag: string; value: T }> {
    const response = await this.call('GET', path);
    return { tag: response.headers.get('etag') ?? '', value: decode(decoder, await read(response)) };
  }

  /** For replies whose body is valid with an error status too. */
  async getAnyway<T>(path: string, decoder: Decoder<T>): Promise<T> {
    const response = await this.reach(path, { ...this.requestInit('GET'), signal: AbortSignal.timeout(TIMEOUT_MS) });
    return decode(decoder, await read(response));
  }

  /** Sends a request and decodes its reply; the signal aborts it. */
  async request<T>(method: Method, path: string, body: unknown, decoder: Decoder<T>, signal?: AbortSignal): Promise<T> {
    const response = await this.call(method, path, body, signal);
    return decode(decoder, await read(response));
  }

  /** Sends a request without a reply body. The body is read to its end even where it is empty: a browser aborts unread replies. */
  async command(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Headers> {
    return this.finish(await this.call(method, path, body, undefined, headers));
  }

  /** As `command`, and the request outlives the page, as far as the browser allows that. */
  async commandKeepalive(method: Method, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Headers> {
    const keepalive = JSON.stringify(body).length < KEEPALIVE_LENGTH_MAX;
    return this.finish(await this.call(method, path, body, undefined, headers, { keepalive }));
  }

  private async finish(response: Response): Promise<Headers> {
    await response.text().catch(unreached);
    return response.headers;
  }

  private async call(
    method: Method,
    path: string,
    body?: unknown,
    given?: AbortSignal,
    more: Record<string, string> = {},
    init: RequestInit = {},
  ): Promise<Response> {
    const request = this.requestInit(method, body, more);
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(given ? [given] : [])]);
    const response = await this.reach(path, { ...request, ...init, signal });
    if (!response.ok) throw await refusal(response);
    return response;
  }

  /** `Rialto-Source` marks an order as placed on the screen, and keeps the browser's own login prompt away. */
  private requestInit(method: Method, body?: unknown, more: Record<string, string> = {}): RequestInit {
    const headers: Record<string, string> = { Accept: 'application/json', 'Rialto-Source': 'UI', ...more };
    const init: RequestInit = { method, headers, credentials: 'same-origin' };
    if (body === undefined) return init;
    return { ...init, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  }

  private async reach(path: string, init: RequestInit): Promise<Response> {
    return this.fetch(path, init).catch(unreached);
  }
}

/** A connection can break in the middle of a reply too. */
async function read(response: Response): Promise<unknown> {
  return JSON.parse(await response.text().catch(unreached));
}

function unreached(): never {
  throw WireError.unreachable();
}

async function refusal(response: Response): Promise<WireError> {
  try {
    return WireError.fromProblem(decode(problem, await response.json()));
  } catch {
    return new WireError(response.status, 'unexplained', `the server answered ${response.status}`);
  }
}
