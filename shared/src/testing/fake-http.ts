import type { Http, HttpMethod, HttpOptions } from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";

/** A call that was made, for assertions. */
export interface FakeCall extends HttpOptions {
  readonly method: HttpMethod;
  readonly path: string;
}

/** What a call answers: a value, or how it comes to be. Throw a PortalError to fail. */
export type FakeAnswer = (call: FakeCall) => unknown;

export interface FakeHttp extends Http {
  readonly calls: readonly FakeCall[];
  /** From now on, `"GET /user/me"` answers so. */
  readonly answer: (call: `${HttpMethod} /${string}`, answer: FakeAnswer) => void;
  /** From now on every call fails so; null ends it. */
  readonly failWith: (code: ErrorCode | null) => void;
}

/**
 * The service's side of the contract in memory: answers are checked by the caller's schema as real
 * ones are.
 */
export function createFakeHttp(
  answers: Readonly<Partial<Record<`${HttpMethod} /${string}`, FakeAnswer>>> = {},
): FakeHttp {
  const handlers = new Map<string, FakeAnswer>(
    Object.entries(answers).flatMap(([call, answer]) => (answer === undefined ? [] : [[call, answer] as const])),
  );
  const calls: FakeCall[] = [];
  let failure: ErrorCode | null = null;

  async function handleCall(call: FakeCall): Promise<unknown> {
    calls.push(call);
    if (call.signal?.aborted === true) throw new PortalError("cancelled");
    if (failure !== null) throw new PortalError(failure);
    const answer = handlers.get(`${call.method} ${call.path}`);
    if (answer === undefined) throw new PortalError("not_found");
    return answer(call);
  }

  return Object.freeze<FakeHttp>({
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
