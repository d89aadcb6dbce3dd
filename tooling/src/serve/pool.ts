import { Agent, Client, type Dispatcher } from "undici";

import { maxBufferedFormBytes } from "./request-bodies.ts";

/**
 * Connections to a server behind the gateway. `timeoutMs`: longest wait for its answer to begin,
 * and to go on.
 */
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
    void dedicatedClient.close(); // as soon as this call has ended
    return accepted;
  });
}

/**
 * A server may answer before it has read a body, and leave the rest on the connection, where the
 * next call would wait behind it. So such a call has a connection of its own, and does not say so:
 * a server that closes on its side may lose its answer. Up to this size a body is read, whoever
 * asks for it.
 */
function mayBeLeftUnread(body: Dispatcher.DispatchOptions["body"]): boolean {
  if (body === null || body === undefined || typeof body === "string") return false;
  return !(body instanceof Uint8Array) || body.byteLength > maxBufferedFormBytes;
}
