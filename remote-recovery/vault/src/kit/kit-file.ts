import { maxKitBytes } from "@relicario/shared/api";

import { utf8, type Bytes } from "../seal/bytes.ts";
import {
  kitElementId,
  serializeKit,
  computeKitTextDigest,
  parseKit,
  getPartElementId,
  createKitError,
  toBase64,
  type Kit,
} from "./kit-document.ts";

/**
 * Placeholders of the template, one of each: a decoder that only some pictures need, the kit, and
 * its digest.
 */
export const placeholders = {
  decoder: "<!-- place of a decoder -->",
  digest: "place-of-the-digest",
  kit: "place-of-the-kit",
} as const;

/**
 * An element with a part of the program: gzip, base64. Only the kit's script runs the part, after
 * comparing its SHA-256.
 */
export function renderProgramPart(name: string, gzipped: Uint8Array): string {
  return `<script type="application/gzip" id="${getPartElementId(name)}">${toBase64(gzipped)}</script>`;
}

export interface KitDecoder {
  readonly name: "avif" | "heic";
  readonly bytes: Bytes;
}

/** Fills in the template of the release. Returns the kit's file. */
export async function fillTemplate(template: string, kit: Kit, decoder: KitDecoder | null): Promise<Bytes> {
  const text = serializeKit(kit);
  const replacements: readonly (readonly [placeholder: string, text: string])[] = [
    [placeholders.decoder, decoder === null ? "" : renderProgramPart(decoder.name, await gzip(decoder.bytes))],
    [placeholders.digest, computeKitTextDigest(text)],
    [placeholders.kit, text],
  ];
  let html = template;
  for (const [placeholder, replacement] of replacements) {
    const [textBefore, textAfter, ...extraParts] = html.split(placeholder);
    if (textBefore === undefined || textAfter === undefined || extraParts.length > 0)
      throw new TypeError("the template does not contain each placeholder once");
    html = textBefore + replacement + textAfter;
  }
  const bytes = utf8(html);
  if (bytes.length > maxKitBytes) throw createKitError("too_large");
  return bytes;
}

/** Matches the element with the kit's line and digest. Only a line feed ends a line here. */
const kitLinePattern = new RegExp(
  `\n<script type="application/json" id="${kitElementId}" data-sha256="([0-9a-f]{64})">\n(\\{[^\n]*\\})\n</script>\n`,
  "g",
);

/** Reads the kit from a file, without running or reading its program. */
export function parseKitFile(file: Uint8Array): Kit {
  if (file.length > maxKitBytes) throw createKitError("too_large");
  const matches = [...new TextDecoder().decode(file).matchAll(kitLinePattern)];
  const [, digest, text] = matches[0] ?? [];
  if (matches.length !== 1 || digest === undefined || text === undefined) throw createKitError("not_a_kit");
  return parseKit(text, digest);
}

async function gzip(bytes: Bytes): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
