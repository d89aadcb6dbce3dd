import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { style } from "./style.ts";

interface Asset {
  /** Its address below the issuer. The digest in it makes it immutable. */
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#17615c" stroke-width="2.5"><style>@media(prefers-color-scheme:dark){svg{stroke:#7fcabf}path+path{fill:#7fcabf}}</style><circle cx="16" cy="4.5" r="2.5"/><path d="M16 7c6.6 0 11 4.7 11 11s-4.9 11-11 11S5 24.3 5 18 9.4 7 16 7z"/><path fill="#17615c" stroke="none" d="M16 23.5c-3.2-2-5-4-5-6.1a2.7 2.7 0 0 1 5-1.4 2.7 2.7 0 0 1 5 1.4c0 2.1-1.8 4.1-5 6.1z"/></svg>`;

const font = asset("inter.woff2", "font/woff2", readFileSync(createRequire(import.meta.url).resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2")));

export const assets = {
  font,
  icon: asset("icon.svg", "image/svg+xml", Buffer.from(icon)),
  style: asset("style.css", "text/css; charset=utf-8", Buffer.from(style(font.path.split("/").at(-1) ?? ""))),
} as const;

const byPath: ReadonlyMap<string, Asset> = new Map(Object.values(assets).map((one) => [one.path, one]));

export function findAsset(path: string): Asset | undefined {
  return byPath.get(path);
}

function asset(name: string, type: string, bytes: Buffer): Asset {
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  return { path: `/assets/${name.replace(".", `.${digest}.`)}`, type, bytes };
}
