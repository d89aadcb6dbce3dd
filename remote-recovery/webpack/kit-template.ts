import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { kitElementId, renderProgramPart, placeholders } from "@relicario/vault/kit";

export const kitFolder = join(import.meta.dirname, "../build/kit");
const stylePath = join(import.meta.dirname, "../vault/src/kit/page/kit.css");

/**
 * Renders the template of a kit: one HTML page that contains its whole program. The vault's worker
 * fills in a person's data. The page's content security policy allows one script and one style by
 * hash, workers from blob URLs, and no requests.
 *
 * @param modules WASM that every kit needs, by name
 */
export function renderKitTemplate(modules: Readonly<Record<string, Uint8Array>>): string {
  const programParts: Readonly<Record<string, Uint8Array>> = {
    worker: readFileSync(join(kitFolder, "kit-worker.js")),
    ...modules,
  };
  // Hashes even the decoders that only some kits embed, so that all kits have the same script.
  const digests = Object.fromEntries(
    Object.entries(programParts).map(([name, bytes]) => [name, createHash("sha256").update(bytes).digest("hex")]),
  );
  const embeddedParts = Object.entries(programParts).filter(([name]) => name !== "avif" && name !== "heic");
  const script = `\nconst kitParts = ${JSON.stringify(digests)};\n${requireInlineable(readFileSync(join(kitFolder, "kit-page.js"), "utf8"))}\n`;
  const css = `\n${requireInlineable(readFileSync(stylePath, "utf8"))}`;
  const policy = [
    "default-src 'none'",
    `script-src '${computeCspHash(script)}' 'wasm-unsafe-eval'`,
    `style-src '${computeCspHash(css)}'`,
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
<p lang="en">This file contains encrypted secrets. Open it in a current browser with JavaScript. If this sentence stays, the file was changed or is damaged: use another copy.</p>
<p lang="es">Este archivo contiene secretos cifrados. Ábrelo en un navegador actual con JavaScript. Si esta frase no desaparece, el archivo se cambió o está dañado: usa otra copia.</p>
</main>
${embeddedParts.map(([name, bytes]) => renderProgramPart(name, gzipSync(bytes, { level: 9 }))).join("\n")}
${placeholders.decoder}
<script type="application/json" id="${kitElementId}" data-sha256="${placeholders.digest}">
${placeholders.kit}
</script>
<script>${script}</script>
</body>
</html>
`;
}

function computeCspHash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** @throws Error if the text contains the end tag of a script or style */
function requireInlineable(text: string): string {
  if (/<\/(script|style)|<!--|<script/i.test(text)) throw new Error("inline script or style contains its own end tag");
  return text;
}
