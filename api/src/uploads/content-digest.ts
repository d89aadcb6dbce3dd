import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * SHA-256 over all chunks, computed in a thread of its own: the event loop reads and copies them,
 * half of the work where the processor has instructions for SHA-256, and far less where it has
 * none. One chunk is under way while the next is read.
 *
 * @throws what reading the chunks throws.
 */
export async function digestInWorker(
  chunks: AsyncIterable<Buffer>,
  workerUrl = new URL("digest.worker.ts", import.meta.url),
): Promise<Buffer> {
  const worker = new Worker(workerUrl, { name: "digest" });
  // It may fail while nothing was asked of it: an error that nobody hears ends the process.
  const workerExited = once(worker, "exit").then((): never => {
    throw new Error("a thread that ended by itself");
  });
  workerExited.catch(() => undefined); // heard of at the next chunk
  const postChunk = async (chunk: Buffer | null): Promise<Uint8Array | null> => {
    worker.postMessage(chunk);
    const [reply] = await Promise.race([once(worker, "message") as Promise<[Uint8Array | null]>, workerExited]);
    return reply;
  };
  try {
    let pendingPost: Promise<unknown> = Promise.resolve();
    for await (const chunk of chunks) {
      await pendingPost;
      pendingPost = postChunk(chunk);
      pendingPost.catch(() => undefined); // heard of at the next chunk; none comes when reading fails
    }
    await pendingPost;
    const digest = await postChunk(null);
    if (digest === null) throw new Error("a thread without its digest");
    return Buffer.from(digest);
  } finally {
    await worker.terminate();
  }
}
