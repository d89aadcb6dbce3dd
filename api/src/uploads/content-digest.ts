import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * SHA-256 over all pieces, computed in a thread of its own: the event loop reads and copies them,
 * half of the work where the processor has instructions for SHA-256, and far less where it has
 * none. One piece is under way while the next is read.
 *
 * @throws what reading the pieces throws.
 */
export async function digestOf(
  pieces: AsyncIterable<Buffer>,
  thread = new URL("digest.worker.ts", import.meta.url),
): Promise<Buffer> {
  const worker = new Worker(thread, { name: "digest" });
  // It may fail while nothing was asked of it: an error that nobody hears ends the process.
  const failed = once(worker, "exit").then((): never => {
    throw new Error("a thread that ended by itself");
  });
  failed.catch(() => undefined); // heard of at the next piece
  const send = async (piece: Buffer | null): Promise<Uint8Array | null> => {
    worker.postMessage(piece);
    const [answer] = await Promise.race([once(worker, "message") as Promise<[Uint8Array | null]>, failed]);
    return answer;
  };
  try {
    let sent: Promise<unknown> = Promise.resolve();
    for await (const piece of pieces) {
      await sent;
      sent = send(piece);
      sent.catch(() => undefined); // heard of at the next piece; none comes when reading fails
    }
    await sent;
    const digest = await send(null);
    if (digest === null) throw new Error("a thread without its digest");
    return Buffer.from(digest);
  } finally {
    await worker.terminate();
  }
}
