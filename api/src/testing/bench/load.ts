import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/**
 * One call, whole as it goes over the wire. The calls of one connection take turns among its list.
 */
export type CallList = readonly [Buffer, ...Buffer[]];

export interface LoadResult {
  readonly callsPerSecond: number;
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
  readonly calls: number;
  /** Of an answer, headers included. */
  readonly bytesPerAnswer: number;
}

export function httpCall(
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
 * Calls for so long, one connection for each list, a call when the answer before it is whole; with
 * `rate` no more than so many a second in all. Costs far less than a client of HTTP: the servers
 * have the processors.
 *
 * @throws Error for an answer that is not 200.
 */
export async function load(
  port: number,
  lists: readonly CallList[],
  seconds: number,
  rate = Infinity,
): Promise<LoadResult> {
  const durations: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const intervalMilliseconds = (lists.length / rate) * 1_000;
  let bytes = 0;
  await Promise.all(
    lists.map(async (calls, index) => {
      const socket = connect(port, "127.0.0.1").setNoDelay();
      await once(socket, "connect");
      let due = startedAt + (index / lists.length) * intervalMilliseconds;
      for (let callIndex = 0; performance.now() < endsAt; callIndex++) {
        if (intervalMilliseconds > 0) {
          const wait = due - performance.now();
          if (wait > 0) await pause(wait);
          // A timer that fires late is not the server's; a call that had to wait for the one before
          // it is.
          const start = wait > 0 ? performance.now() : due;
          const received = await sendCall(socket, calls[callIndex % calls.length] ?? calls[0]);
          bytes += received;
          durations.push(performance.now() - start);
          due += intervalMilliseconds;
        } else {
          const start = performance.now();
          const received = await sendCall(socket, calls[callIndex % calls.length] ?? calls[0]);
          bytes += received;
          durations.push(performance.now() - start);
        }
      }
      socket.destroy();
    }),
  );
  const sorted = durations.toSorted((a, b) => a - b);
  const percentile = (fraction: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? NaN;
  return {
    callsPerSecond: durations.length / ((performance.now() - startedAt) / 1_000),
    median: percentile(0.5),
    p99: percentile(0.99),
    calls: durations.length,
    bytesPerAnswer: bytes / durations.length,
  };
}

/** Of an answer in chunks; it comes as one piece. */
const endOfChunks = Buffer.from("0\r\n\r\n");
const endOfHead = Buffer.from("\r\n\r\n");

/** @returns the bytes of the answer. */
function sendCall(socket: Socket, call: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    let received = 0;
    let expected = Infinity;
    let head: Buffer = Buffer.alloc(0);
    const removeListeners = (): void => {
      socket.off("data", onData).off("error", reject).off("close", onClose);
    };
    const onClose = (): void => {
      reject(new Error("the connection was closed"));
    };
    const onData = (chunk: Buffer): void => {
      received += chunk.length;
      if (expected === Infinity) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf(endOfHead);
        if (end === -1) return;
        const text = head.toString("latin1", 0, end);
        const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
        if (!text.startsWith("HTTP/1.1 200 ")) {
          removeListeners();
          reject(new Error(`it was answered ${text.slice(0, 40)}`));
          return;
        }
        expected = length === undefined ? -1 : end + endOfHead.length + Number(length);
      }
      if (expected === -1 ? !chunk.subarray(-endOfChunks.length).equals(endOfChunks) : received < expected) return;
      removeListeners();
      resolve(received);
    };
    socket.on("data", onData).once("error", reject).once("close", onClose);
    socket.write(call);
  });
}
