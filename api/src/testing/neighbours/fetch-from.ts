import { Agent, request } from "node:http";
import { buffer } from "node:stream/consumers";

import type { SimpleFetch } from "../../identity/test-support.ts";
import { callTimeoutMilliseconds } from "./caller.ts";

/** Fetches from this address, over IPv4, which `localhost` does not promise. */
export function createFetchFrom(address: string): SimpleFetch {
  const agent = new Agent({ keepAlive: true, localAddress: address, maxSockets: 1_000 });
  return (url, { method, headers, body }) =>
    new Promise((resolve, reject) => {
      const outgoing = request({
        ...{ agent, host: "127.0.0.1", port: url.port, path: url.pathname + url.search, method },
        signal: AbortSignal.timeout(callTimeoutMilliseconds),
        headers: {
          ...headers,
          host: url.host,
          ...(body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
        },
      });
      outgoing.once("error", reject);
      outgoing.once("response", (response) => {
        const headerPairs = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        );
        buffer(response).then((bytes) => {
          resolve(new Response(bytes, { status: response.statusCode ?? 0, headers: headerPairs }));
        }, reject);
      });
      outgoing.end(body?.toString());
    });
}
