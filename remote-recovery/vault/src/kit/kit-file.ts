import { maxKitBytes } from "@relicario/shared/api";

import { utf8, type Bytes } from "../seal/bytes.ts";
import {
  kitElement,
  kitText,
  kitTextDigest,
  parseKit,
  partElement,
  refused,
  toBase64,
  type Kit,
} from "./kit-document.ts";

/**
 * Places of the template, each there once: a decoder that only some pictures need, and the kit with
 * its digest.
 */
export const places = {
  decoder: "<!-- place of a decoder -->",
  digest: "place-of-the-digest",
  kit: "place-of-the-kit",
} as const;

/**
 * A part of the program as it stands in the page: gzip, base64. Nothing runs it but the kit's
 * script, which knows its SHA-256.
 */
export function partHtml(name: string, gzipped: Uint8Array): string {
  return `<script type="application/gzip" id="${partElement(name)}">${toBase64(gzipped)}</script>`;
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
  const text = kitText(kit);
  const fill: readonly (readonly [place: string, text: string])[] = [
    [places.decoder, decoder === null ? "" : partHtml(decoder.name, await gzip(decoder.bytes))],
    [places.digest, kitTextDigest(text)],
    [places.kit, text],
  ];
  let html = template;
  for (const [place, given] of fill) {
    const [before, after, ...more] = html.split(place);
    if (before === undefined || after === undefined || more.length > 0)
      throw new TypeError("this is not the template of a kit");
    html = before + given + after;
  }
  const bytes = utf8(html);
  if (bytes.length > maxKitBytes) throw refused("too_large");
  return bytes;
}

/**
 * The line of the kit, and its digest, as the template has them. Only a line feed ends a line here.
 */
const line = new RegExp(
  `\n<script type="application/json" id="${kitElement}" data-sha256="([0-9a-f]{64})">\n(\\{[^\n]*\\})\n</script>\n`,
  "g",
);

/**
 * The kit in a file. Nothing of its program is run, or even looked at.
 *
 * @throws PortalError `validation_error`, as {@link parseKit}, also with `too_large`.
 */
export function readKitFile(file: Uint8Array): Kit {
  if (file.length > maxKitBytes) throw refused("too_large");
  const found = [...new TextDecoder().decode(file).matchAll(line)];
  const [, digest, text] = found[0] ?? [];
  if (found.length !== 1 || digest === undefined || text === undefined) throw refused("not_a_kit");
  return parseKit(text, digest);
}

async function gzip(bytes: Bytes): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
