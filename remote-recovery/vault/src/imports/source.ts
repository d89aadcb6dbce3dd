import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import { canonicalBytes, fromB64u, maxSmallContentBytes, toB64u } from "@relicario/shared/api";
import type { ImportItem } from "@relicario/shared/contract";

import { chunksOf, concat, sha256Async, newSha256, utf8, type Bytes } from "../seal/bytes.ts";

/** Bytes of each half of a mark. */
const halfSize = 16;

/**
 * The `source` of an imported item under the book's `import_key`: 16 bytes of HMAC-SHA-256 over
 * what says which item it is, then 16 over what it holds. So the same item is known again, and what
 * differs in it is seen, and without the key it says nothing.
 */
export async function sourceOf(importKey: Bytes, item: ImportItem): Promise<string> {
  const [source] = await sourcesOf(importKey, item);
  return source;
}

/**
 * The `source` that is given today, and those that earlier releases gave the same item: they had
 * the portal's language in titles of ours.
 */
export async function sourcesOf(importKey: Bytes, item: ImportItem): Promise<readonly [string, ...string[]]> {
  const { sourceId, tags, contentKind, name, mime, canonicalContent, content, sealed } = item;
  const [currentTitle, ...earlierTitles] = item.canonicalTitles ?? [item.title];
  const digest =
    sealed?.plainSha256 ??
    toB64u(canonicalContent === null ? await digestOfContent(content) : await sha256Async(utf8(canonicalContent)));
  const itemMark = computeMark(importKey, { v: 1, origin: sourceId });
  const sourceForTitle = (title: string): string =>
    toB64u(
      concat(
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
  return [sourceForTitle(currentTitle), ...earlierTitles.map(sourceForTitle)];
}

/** Large contents as they come: they may be larger than memory. */
async function digestOfContent(content: Blob): Promise<Bytes> {
  if (content.size <= maxSmallContentBytes) return sha256Async(new Uint8Array(await content.arrayBuffer()));
  const digest = newSha256();
  for await (const chunk of chunksOf(content.stream())) digest.update(chunk);
  return digest.finish();
}

function computeMark(importKey: Bytes, document: Parameters<typeof canonicalBytes>[0]): Uint8Array {
  return hmac(nobleSha256, importKey, canonicalBytes(document)).subarray(0, halfSize);
}

/** Which item a mark is of, whatever it holds. */
export function itemMarkOf(source: string): string {
  return toB64u(fromB64u(source).subarray(0, halfSize));
}
