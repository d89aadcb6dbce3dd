import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { buildStyleSheet } from "./style.ts";

interface Asset {
  /** Its address below the issuer. The digest in it makes it immutable. */
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#17615c"/><path d="M16 7c-5 0-8 3.4-8 8.2C8 20.6 12.4 24 16 26c3.6-2 8-5.4 8-10.8C24 10.4 21 7 16 7Z" fill="none" stroke="#fff" stroke-width="2"/><circle cx="16" cy="14.5" r="2.2" fill="#fff"/><path d="M16 16v4" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>`;

const font = createAsset(
  "inter.woff2",
  "font/woff2",
  readFileSync(
    createRequire(import.meta.url).resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"),
  ),
);

export const assets = {
  font,
  icon: createAsset("icon.svg", "image/svg+xml", Buffer.from(icon)),
  style: createAsset(
    "style.css",
    "text/css; charset=utf-8",
    Buffer.from(buildStyleSheet(font.path.split("/").at(-1) ?? "")),
  ),
} as const;

const assetsByPath: ReadonlyMap<string, Asset> = new Map(Object.values(assets).map((asset) => [asset.path, asset]));

export function findAsset(path: string): Asset | undefined {
  return assetsByPath.get(path);
}

function createAsset(name: string, type: string, bytes: Buffer): Asset {
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  return { path: `/assets/${name.replace(".", `.${digest}.`)}`, type, bytes };
}
