import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import { encodeCanonical, fromBase64url, maxSmallContentBytes, toBase64url } from "@relicario/shared/api";
import type { ImportItem } from "@relicario/shared/contract";

import { readChunks, concatBytes, sha256Async, createSha256, utf8, type Bytes } from "../seal/bytes.ts";

/** Bytes of each half of a mark. */
const markHalfSize = 16;

/**
 * The `source` of an imported item under the book's `import_key`: 16 bytes of HMAC-SHA-256 over
 * what says which item it is, then 16 over what it holds. So the same item is known again, and what
 * differs in it is seen, and without the key it says nothing.
 */
export async function computeSource(importKey: Bytes, item: ImportItem): Promise<string> {
  const [source] = await computeSources(importKey, item);
  return source;
}

/**
 * The `source` that is given today, and those that earlier releases gave the same item: they had
 * the portal's language in titles of ours.
 */
export async function computeSources(importKey: Bytes, item: ImportItem): Promise<readonly [string, ...string[]]> {
  const { sourceId, tags, contentKind, name, mime, canonicalContent, content, sealed } = item;
  const [currentTitle, ...earlierTitles] = item.canonicalTitles ?? [item.title];
  const digest =
    sealed?.plainSha256 ??
    toBase64url(
      canonicalContent === null ? await computeContentDigest(content) : await sha256Async(utf8(canonicalContent)),
    );
  const itemMark = computeMark(importKey, { v: 1, origin: sourceId });
  const computeSourceForTitle = (title: string): string =>
    toBase64url(
      concatBytes(
        itemMark,
        computeMark(importKey, {
          v: 1,
          title,
          tags: [...tags],
          content_kind: contentKind,
          name,
          mime,
          content_sha256: digest,
        }),
      ),
    );
  return [computeSourceForTitle(currentTitle), ...earlierTitles.map(computeSourceForTitle)];
}

/** Large contents as they come: they may be larger than memory. */
async function computeContentDigest(content: Blob): Promise<Bytes> {
  if (content.size <= maxSmallContentBytes) return sha256Async(new Uint8Array(await content.arrayBuffer()));
  const digest = createSha256();
  for await (const chunk of readChunks(content.stream())) digest.update(chunk);
  return digest.finish();
}

function computeMark(importKey: Bytes, document: Parameters<typeof encodeCanonical>[0]): Uint8Array {
  return hmac(nobleSha256, importKey, encodeCanonical(document)).subarray(0, markHalfSize);
}

/** Which item a mark is of, whatever it holds. */
export function extractItemMark(source: string): string {
  return toBase64url(fromBase64url(source).subarray(0, markHalfSize));
}
