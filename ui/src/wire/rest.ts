/** Calls over HTTP: JSON in, decoded JSON out, and a `WireError` for whatever else. */

import { type Decoder, decode } from './decode';
import { problem } from './decoders';
import { WireError } from './error';

/** State as it is after an input; messages up to this sequence say nothing new. */
export interface Snapshot<T> {
  sequence: number;
  value: T;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Fetch = (path: string, init: RequestInit) => Promise<Response>;

/** A call that takes longer is given up, in milliseconds. */
const TIMEOUT_MS = 15_000;
/** Browsers let so much outlive its page, 64 KiB with room for letters of several bytes. */
const KEEPALIVE_LENGTH_MAX = 30_000;

export class Rest {
  constructor(private readonly fetch: Fetch) {}

  async get<T>(path: string, decoder: Decoder<T>): Promise<T> {
    return (await this.snapshot(path, decoder)).value;
  }

  async snapshot<T>(path: string, decoder: Decoder<T>): Promise<Snapshot<T>> {
    const response = await this.call('GET', path);
    const sequence = Number(response.headers.get('rialto-sequence') ?? 0);
    return { sequence, value: decode(decoder, await read(response)) };
  }

  /** With the server's name for this state of it, to say which one a later change is meant for. */
  async tagged<T>(path: string, decoder: Decoder<T>): Promise<{ tag: string; value: T }> {
    const response = await this.call('GET', path);
    return { tag: response.headers.get('etag') ?? '', value: decode(decoder, await read(response)) };
  }

  /** For answers whose body says what the status does. */
  async getAnyway<T>(path: string, decoder: Decoder<T>): Promise<T> {
    const response = await this.reach(path, { ...this.requestInit('GET'), signal: AbortSignal.timeout(TIMEOUT_MS) });
    return decode(decoder, await read(response));
  }

  /** Whoever needs the answer no longer says so by the signal. */
  async request<T>(method: Method, path: string, body: unknown, decoder: Decoder<T>, signal?: AbortSignal): Promise<T> {
    const response = await this.call(method, path, body, signal);
    return decode(decoder, await read(response));
  }

  /** The body is read to its end even where it is empty: a browser aborts what nobody reads. */
  async command(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Headers> {
    return this.finish(await this.call(method, path, body, undefined, headers));
  }

  /** As `tell`, and it gets there also when the page is left meanwhile, as far as browsers promise that. */
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

/** A connection can break in the middle of an answer too. */
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
