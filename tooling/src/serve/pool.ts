import { Agent, Client, type Dispatcher } from "undici";

import { maxBufferedFormBytes } from "./request-bodies.ts";

/** `timeoutMs`: for a response to start or to continue. */
export function openPool({
  connections,
  timeoutMs,
}: {
  readonly connections: number;
  readonly timeoutMs: number;
}): Dispatcher {
  const settings = { connect: { timeout: 2_000 }, headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  return new Agent({ ...settings, connections }).compose((dispatch) => (options, handler) => {
    if (options.origin === undefined || !mayBeLeftUnread(options.body)) return dispatch(options, handler);
    const dedicatedClient = new Client(options.origin, settings);
    const accepted = dedicatedClient.dispatch(options, handler);
    void dedicatedClient.close(); // when this call has ended
    return accepted;
  });
}

/**
 * Whether the server may answer before it has read the body, whose rest would block the next call.
 * Such a call has its own connection, but sends no `Connection: close`: a server that closes it may
 * lose its response. Smaller bodies are always read.
 */
function mayBeLeftUnread(body: Dispatcher.DispatchOptions["body"]): boolean {
  if (body === null || body === undefined || typeof body === "string") return false;
  return !(body instanceof Uint8Array) || body.byteLength > maxBufferedFormBytes;
}
