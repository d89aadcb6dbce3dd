import { concatBytes, type Bytes } from "../seal/bytes.ts";
import { contentHeadSize } from "../seal/content-sizes.ts";
import { openContentHead } from "../seal/content-stream.ts";
import { createResumableDigest } from "../transfer/resumable-digest.ts";
import { saveContent } from "../transfer/save-content.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";

/** Fetches and opens a whole content in chunks. */
export async function saveToBytes(
  calls: Pick<TransferCalls, "range">,
  { identity, ...content }: SealedContentKey,
): Promise<Bytes> {
  const { bytes } = await calls.range(content, 0, contentHeadSize);
  const chunks: Bytes[] = [];
  const sink = {
    write: async (chunk: Bytes) => void chunks.push(chunk.slice()),
    commit: () => Promise.resolve(new Blob()),
    discard: () => Promise.resolve(),
  };
  const deps = { calls, digest: createResumableDigest(), retryPolicy: { wait: () => Promise.resolve() }, sink };
  await saveContent(
    deps,
    { ...content, ...(await openContentHead(identity, bytes)) },
    { signal: new AbortController().signal, onProgress: () => undefined },
  );
  return concatBytes(...chunks);
}
