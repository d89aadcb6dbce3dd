import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/**
 * One call, whole as it goes over the wire. The calls of one connection take turns among its list.
 */
export type Calls = readonly [Buffer, ...Buffer[]];

export interface Measured {
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
  const all = {
    host: "localhost",
    ...headers,
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(payload)) }),
  };
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${Object.entries(all)
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
export async function load(port: number, lists: readonly Calls[], seconds: number, rate = Infinity): Promise<Measured> {
  const took: number[] = [];
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  const apart = (lists.length / rate) * 1_000;
  let bytes = 0;
  await Promise.all(
    lists.map(async (calls, index) => {
      const socket = connect(port, "127.0.0.1").setNoDelay();
      await once(socket, "connect");
      let due = begun + (index / lists.length) * apart;
      for (let turn = 0; performance.now() < until; turn++) {
        if (apart > 0) {
          const wait = due - performance.now();
          if (wait > 0) await pause(wait);
          // A timer that fires late is not the server's; a call that had to wait for the one before
          // it is.
          const start = wait > 0 ? performance.now() : due;
          const received = await ask(socket, calls[turn % calls.length] ?? calls[0]);
          bytes += received;
          took.push(performance.now() - start);
          due += apart;
        } else {
          const start = performance.now();
          const received = await ask(socket, calls[turn % calls.length] ?? calls[0]);
          bytes += received;
          took.push(performance.now() - start);
        }
      }
      socket.destroy();
    }),
  );
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return {
    callsPerSecond: took.length / ((performance.now() - begun) / 1_000),
    median: at(0.5),
    p99: at(0.99),
    calls: took.length,
    bytesPerAnswer: bytes / took.length,
  };
}

/** Of an answer in chunks; it comes as one piece. */
const endOfChunks = Buffer.from("0\r\n\r\n");
const endOfHead = Buffer.from("\r\n\r\n");

/** @returns the bytes of the answer. */
function ask(socket: Socket, call: Buffer): Promise<number> {
  return new Promise((answered, failed) => {
    let received = 0;
    let expected = Infinity;
    let head: Buffer = Buffer.alloc(0);
    const stop = (): void => {
      socket.off("data", take).off("error", failed).off("close", closed);
    };
    const closed = (): void => {
      failed(new Error("the connection was closed"));
    };
    const take = (piece: Buffer): void => {
      received += piece.length;
      if (expected === Infinity) {
        head = head.length === 0 ? piece : Buffer.concat([head, piece]);
        const end = head.indexOf(endOfHead);
        if (end === -1) return;
        const text = head.toString("latin1", 0, end);
        const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
        if (!text.startsWith("HTTP/1.1 200 ")) {
          stop();
          failed(new Error(`it was answered ${text.slice(0, 40)}`));
          return;
        }
        expected = length === undefined ? -1 : end + endOfHead.length + Number(length);
      }
      if (expected === -1 ? !piece.subarray(-endOfChunks.length).equals(endOfChunks) : received < expected) return;
      stop();
      answered(received);
    };
    socket.on("data", take).once("error", failed).once("close", closed);
    socket.write(call);
  });
}
