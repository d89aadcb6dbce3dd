import { concat, type Bytes } from "../seal/bytes.ts";
import { contentHeadBytes } from "../seal/content-pieces.ts";
import { openContentHead } from "../seal/content-stream.ts";
import { createRunningDigest } from "../transfer/running-digest.ts";
import { saveContent } from "../transfer/save-content.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import type { SealedContentKey } from "../worker/opened-contents.ts";

/** The whole of a content that an opener was shown for, fetched and opened in pieces. */
export async function savedBytes(
  calls: Pick<TransferCalls, "range">,
  { identity, ...content }: SealedContentKey,
): Promise<Bytes> {
  const { bytes } = await calls.range(content, 0, contentHeadBytes);
  const written: Bytes[] = [];
  const sink = {
    write: async (piece: Bytes) => void written.push(piece.slice()),
    commit: () => Promise.resolve(null),
    discard: () => Promise.resolve(),
  };
  const parts = { calls, digest: createRunningDigest(), patience: { wait: () => Promise.resolve() }, sink };
  await saveContent(
    parts,
    { ...content, ...(await openContentHead(identity, bytes)) },
    { signal: new AbortController().signal, onProgress: () => undefined },
  );
  return concat(...written);
}
