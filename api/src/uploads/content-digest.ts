import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * SHA-256 over all chunks, computed in a worker: the event loop only reads and copies them. One
 * chunk is hashed while the next is read.
 *
 * @throws what reading the chunks throws.
 */
export async function digestInWorker(
  chunks: AsyncIterable<Buffer>,
  workerUrl = new URL("digest.worker.ts", import.meta.url),
): Promise<Buffer> {
  const worker = new Worker(workerUrl, { name: "digest" });
  // The worker may fail while idle; an unhandled rejection would end the process.
  const workerExited = once(worker, "exit").then((): never => {
    throw new Error("the worker ended early");
  });
  workerExited.catch(() => undefined); // the next chunk rejects with it
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
      pendingPost.catch(() => undefined); // awaited with the next chunk; not at all when reading fails
    }
    await pendingPost;
    const digest = await postChunk(null);
    if (digest === null) throw new Error("the worker returned no digest");
    return Buffer.from(digest);
  } finally {
    await worker.terminate();
  }
}
