import type { HttpClient, HttpMethod, HttpRequestOptions } from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";

/** A recorded call, for assertions. */
export interface RecordedHttpCall extends HttpRequestOptions {
  readonly method: HttpMethod;
  readonly path: string;
}

/** Returns the response of a call, or throws a PortalError. */
export type FakeHttpHandler = (call: RecordedHttpCall) => unknown;

export interface FakeHttpClient extends HttpClient {
  readonly calls: readonly RecordedHttpCall[];
  /** Sets the response of a call, such as `"GET /user/me"`. */
  readonly answer: (call: `${HttpMethod} /${string}`, answer: FakeHttpHandler) => void;
  /** Makes every call fail with the code. Null ends the failures. */
  readonly failWith: (code: ErrorCode | null) => void;
}

/** Creates a service in memory. As in the real client, the caller's schema parses each response. */
export function createFakeHttpClient(
  answers: Readonly<Partial<Record<`${HttpMethod} /${string}`, FakeHttpHandler>>> = {},
): FakeHttpClient {
  const handlers = new Map<string, FakeHttpHandler>(
    Object.entries(answers).flatMap(([call, answer]) => (answer === undefined ? [] : [[call, answer] as const])),
  );
  const calls: RecordedHttpCall[] = [];
  let failure: ErrorCode | null = null;

  async function handleCall(call: RecordedHttpCall): Promise<unknown> {
    calls.push(call);
    if (call.signal?.aborted === true) throw new PortalError("cancelled");
    if (failure !== null) throw new PortalError(failure);
    const answer = handlers.get(`${call.method} ${call.path}`);
    if (answer === undefined) throw new PortalError("not_found");
    return answer(call);
  }

  return Object.freeze<FakeHttpClient>({
    calls,
    answer: (call, answer) => {
      handlers.set(call, answer);
    },
    failWith: (code) => {
      failure = code;
    },
    request: async (method, path, schema, options = {}) => {
      const parsed = schema.safeParse(await handleCall({ method, path, ...options }));
      if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
      return parsed.data;
    },
    stream: async (method, path, options = {}) => {
      const bytes = await handleCall({ method, path, ...options });
      if (!(bytes instanceof Uint8Array)) throw new PortalError("bad_answer");
      return { totalSize: bytes.length, offset: 0, body: new Blob([Uint8Array.from(bytes)]).stream() };
    },
  });
}
