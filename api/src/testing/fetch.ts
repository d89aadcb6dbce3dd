import type { App } from "../app.ts";

/** `fetch` on a service in this process, without a socket. Accepts any origin. */
export function createFetch({ http }: Pick<App, "http">): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const { pathname, search } = new URL(request.url);
    const { statusCode, headers, rawPayload } = await http.inject({
      method: requireMethod(request.method),
      url: `${pathname}${search}`,
      headers: Object.fromEntries(request.headers),
      payload: Buffer.from(await request.arrayBuffer()),
    });
    request.signal.throwIfAborted();
    const responseHeaders = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    return new Response(statusCode === 204 ? null : Uint8Array.from(rawPayload), {
      status: statusCode,
      headers: responseHeaders,
    });
  };
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

function requireMethod(name: string): (typeof methods)[number] {
  const method = methods.find((candidate) => candidate === name);
  if (method === undefined) throw new TypeError(`${name} is not a method that the service has`);
  return method;
}
