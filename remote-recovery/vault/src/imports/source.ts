import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import { encodeCanonical, fromBase64url, maxSmallContentBytes, toBase64url } from "@relicario/shared/api";
import type { ImportItem } from "@relicario/shared/contract";

import { readChunks, concatBytes, sha256Async, createSha256, utf8, type Bytes } from "../seal/bytes.ts";

/** Bytes in each half of a mark. */
const markHalfSize = 16;

/**
 * Computes the `source` of an imported item under the book's `import_key`: 16 bytes of HMAC-SHA-256
 * over the item's origin, then 16 over its content. The first half recognises the item, the second
 * detects changes. Without the key, a source reveals nothing.
 */
export async function computeSource(importKey: Bytes, item: ImportItem): Promise<string> {
  const [source] = await computeSources(importKey, item);
  return source;
}

/**
 * The current `source`, and those that earlier releases computed. These used generated titles in
 * the portal's language.
 */
export async function computeSources(importKey: Bytes, item: ImportItem): Promise<readonly [string, ...string[]]> {
  const { sourceId, tags, contentKind, name, mime, canonicalContent, content, sealedContent } = item;
  const [currentTitle, ...earlierTitles] = item.canonicalTitles ?? [item.title];
  const digest =
    sealedContent?.plainSha256 ??
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

/** Digests large contents in chunks, because they may exceed the memory. */
async function computeContentDigest(content: Blob): Promise<Bytes> {
  if (content.size <= maxSmallContentBytes) return sha256Async(new Uint8Array(await content.arrayBuffer()));
  const digest = createSha256();
  for await (const chunk of readChunks(content.stream())) digest.update(chunk);
  return digest.finish();
}

function computeMark(importKey: Bytes, document: Parameters<typeof encodeCanonical>[0]): Uint8Array {
  return hmac(nobleSha256, importKey, encodeCanonical(document)).subarray(0, markHalfSize);
}

/** The half of a mark that identifies the item, whatever its content. */
export function extractItemMark(source: string): string {
  return toBase64url(fromBase64url(source).subarray(0, markHalfSize));
}
