import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * SHA-256 over all pieces, computed in a thread of its own: the event loop reads and copies them, half of the work where the
 * processor has instructions for SHA-256, and far less where it has none. One piece is under way while the next is read.
 *
 * @throws what reading the pieces throws.
 */
export async function digestOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const worker = new Worker(new URL("digest.worker.ts", import.meta.url), { name: "digest" });
  const send = async (piece: Buffer | null): Promise<Uint8Array | null> => {
    worker.postMessage(piece);
    const [answer] = (await once(worker, "message")) as [Uint8Array | null]; // rejects when the thread fails
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
