import { maxKitBytes } from "@relicario/shared/api";

import { utf8, type Bytes } from "../seal/bytes.ts";
import {
  kitElementId,
  serializeKit,
  computeKitTextDigest,
  parseKit,
  partElementId,
  createKitError,
  toBase64,
  type Kit,
} from "./kit-document.ts";

/**
 * Places of the template, each there once: a decoder that only some pictures need, and the kit with
 * its digest.
 */
export const placeholders = {
  decoder: "<!-- place of a decoder -->",
  digest: "place-of-the-digest",
  kit: "place-of-the-kit",
} as const;

/**
 * A part of the program as it stands in the page: gzip, base64. Nothing runs it but the kit's
 * script, which knows its SHA-256.
 */
export function renderProgramPart(name: string, gzipped: Uint8Array): string {
  return `<script type="application/gzip" id="${partElementId(name)}">${toBase64(gzipped)}</script>`;
}

export interface KitDecoder {
  readonly name: "avif" | "heic";
  readonly bytes: Bytes;
}

/**
 * The file, from the template of the release.
 *
 * @throws PortalError `validation_error` (`too_large`).
 */
export async function fillTemplate(template: string, kit: Kit, decoder: KitDecoder | null): Promise<Bytes> {
  const text = serializeKit(kit);
  const replacements: readonly (readonly [placeholder: string, text: string])[] = [
    [placeholders.decoder, decoder === null ? "" : renderProgramPart(decoder.name, await gzip(decoder.bytes))],
    [placeholders.digest, computeKitTextDigest(text)],
    [placeholders.kit, text],
  ];
  let html = template;
  for (const [placeholder, replacement] of replacements) {
    const [before, after, ...extraParts] = html.split(placeholder);
    if (before === undefined || after === undefined || extraParts.length > 0)
      throw new TypeError("this is not the template of a kit");
    html = before + replacement + after;
  }
  const bytes = utf8(html);
  if (bytes.length > maxKitBytes) throw createKitError("too_large");
  return bytes;
}

/**
 * The line of the kit, and its digest, as the template has them. Only a line feed ends a line here.
 */
const kitLinePattern = new RegExp(
  `\n<script type="application/json" id="${kitElementId}" data-sha256="([0-9a-f]{64})">\n(\\{[^\n]*\\})\n</script>\n`,
  "g",
);

/**
 * The kit in a file. Nothing of its program is run, or even looked at.
 *
 * @throws PortalError `validation_error`, as {@link parseKit}, also with `too_large`.
 */
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
