import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { kitElementId, renderProgramPart, placeholders } from "@relicario/vault/kit";

/** Where the build puts the scripts of the kit, as files of their own. */
export const kitOutput = join(import.meta.dirname, "../build/kit");
const stylePath = join(import.meta.dirname, "../vault/src/kit/page/kit.css");

/**
 * The template of a kit: one page with all of its program. The vault's worker fills in what belongs
 * to a person. Its policy lets its one script and its one style run, by their hashes, workers from
 * blob addresses, and no request at all.
 *
 * @param modules WASM that every kit has, by name
 */
export function renderKitTemplate(modules: Readonly<Record<string, Uint8Array>>): string {
  const parts: Readonly<Record<string, Uint8Array>> = {
    worker: readFileSync(join(kitOutput, "kit-worker.js")),
    ...modules,
  };
  // Of the decoders that only some kits have the digest stands here all the same: the script is the
  // same in every kit.
  const digests = Object.fromEntries(
    Object.entries(parts).map(([name, bytes]) => [name, createHash("sha256").update(bytes).digest("hex")]),
  );
  const embedded = Object.entries(parts).filter(([name]) => name !== "avif" && name !== "heic");
  const script = `\nconst kitParts = ${JSON.stringify(digests)};\n${requireInlineable(readFileSync(join(kitOutput, "kit-page.js"), "utf8"))}\n`;
  const css = `\n${requireInlineable(readFileSync(stylePath, "utf8"))}`;
  const policy = [
    "default-src 'none'",
    `script-src '${cspHashOf(script)}' 'wasm-unsafe-eval'`,
    `style-src '${cspHashOf(css)}'`,
    "worker-src blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Kit</title>
<style>${css}</style>
</head>
<body>
<main>
<p lang="en">This file holds sealed secrets. Open it in a current browser with JavaScript. If this sentence stays, the file was changed or is damaged: take another copy.</p>
<p lang="es">Este archivo guarda secretos sellados. Ábrelo en un navegador actual con JavaScript. Si esta frase no desaparece, el archivo se cambió o está dañado: usa otra copia.</p>
</main>
${embedded.map(([name, bytes]) => renderProgramPart(name, gzipSync(bytes, { level: 9 }))).join("\n")}
${placeholders.decoder}
<script type="application/json" id="${kitElementId}" data-sha256="${placeholders.digest}">
${placeholders.kit}
</script>
<script>${script}</script>
</body>
</html>
`;
}

function cspHashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/**
 * @throws Error for a text that would end its element: a build that makes one has to be looked at.
 */
function requireInlineable(text: string): string {
  if (/<\/(script|style)|<!--|<script/i.test(text))
    throw new Error("a script or style of the kit holds the end of an element");
  return text;
}
