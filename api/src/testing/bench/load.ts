import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** Calls as raw bytes. A connection cycles through its list. */
export type CallList = readonly [Buffer, ...Buffer[]];

export interface LoadResult {
  readonly callsPerSecond: number;
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
  readonly calls: number;
  /** Of a response, headers included. */
  readonly bytesPerResponse: number;
}

export function buildHttpCall(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Buffer {
  const payload = body === undefined ? "" : JSON.stringify(body);
  const allHeaders = {
    host: "localhost",
    ...headers,
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(payload)) }),
  };
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${Object.entries(allHeaders)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}\r\n${payload}`,
  );
}

/**
 * Makes calls for a time, on one connection per list, each after the previous response; at most
 * `maxCallsPerSecond` in total. Costs far less than an HTTP client, which leaves the processors to
 * the servers.
 *
 * @throws Error for a response other than 200.
 */
export async function generateLoad(
  port: number,
  callLists: readonly CallList[],
  durationSeconds: number,
  maxCallsPerSecond = Infinity,
): Promise<LoadResult> {
  const durations: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + durationSeconds * 1_000;
  const intervalMilliseconds = (callLists.length / maxCallsPerSecond) * 1_000;
  let totalBytes = 0;
  await Promise.all(
    callLists.map(async (calls, index) => {
      const socket = connect(port, "127.0.0.1").setNoDelay();
      await once(socket, "connect");
      let dueAt = startedAt + (index / callLists.length) * intervalMilliseconds;
      for (let callIndex = 0; performance.now() < endsAt; callIndex++) {
        if (intervalMilliseconds > 0) {
          const waitMilliseconds = dueAt - performance.now();
          if (waitMilliseconds > 0) await pause(waitMilliseconds);
          // A late timer is not the server's fault; waiting for the previous response is.
          const startedCallAt = waitMilliseconds > 0 ? performance.now() : dueAt;
          const receivedBytes = await sendCall(socket, calls[callIndex % calls.length] ?? calls[0]);
          totalBytes += receivedBytes;
          durations.push(performance.now() - startedCallAt);
          dueAt += intervalMilliseconds;
        } else {
          const startedCallAt = performance.now();
          const receivedBytes = await sendCall(socket, calls[callIndex % calls.length] ?? calls[0]);
          totalBytes += receivedBytes;
          durations.push(performance.now() - startedCallAt);
        }
      }
      socket.destroy();
    }),
  );
  const sorted = durations.toSorted((a, b) => a - b);
  const getPercentile = (fraction: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? NaN;
  return {
    callsPerSecond: durations.length / ((performance.now() - startedAt) / 1_000),
    median: getPercentile(0.5),
    p99: getPercentile(0.99),
    calls: durations.length,
    bytesPerResponse: totalBytes / durations.length,
  };
}

/** Ends a chunked response. */
const endOfChunks = Buffer.from("0\r\n\r\n");
const endOfHead = Buffer.from("\r\n\r\n");

/** @returns the bytes of the response. */
function sendCall(socket: Socket, call: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    let receivedBytes = 0;
    let expectedBytes = Infinity;
    let head: Buffer = Buffer.alloc(0);
    const removeListeners = (): void => {
      socket.off("data", onData).off("error", reject).off("close", onClose);
    };
    const onClose = (): void => {
      reject(new Error("the connection was closed"));
    };
    const onData = (chunk: Buffer): void => {
      receivedBytes += chunk.length;
      if (expectedBytes === Infinity) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf(endOfHead);
        if (end === -1) return;
        const headText = head.toString("latin1", 0, end);
        const [, contentLength] = /\r\ncontent-length: (\d+)/i.exec(headText) ?? [];
        if (!headText.startsWith("HTTP/1.1 200 ")) {
          removeListeners();
          reject(new Error(`the server answered ${headText.slice(0, 40)}`));
          return;
        }
        expectedBytes = contentLength === undefined ? -1 : end + endOfHead.length + Number(contentLength);
      }
      if (
        expectedBytes === -1 ? !chunk.subarray(-endOfChunks.length).equals(endOfChunks) : receivedBytes < expectedBytes
      )
        return;
      removeListeners();
      resolve(receivedBytes);
    };
    socket.on("data", onData).once("error", reject).once("close", onClose);
    socket.write(call);
  });
}
