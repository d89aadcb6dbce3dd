/**
 * `pnpm bench:sealing [megabytes] [rounds]`: measures how fast contents are sealed and opened, in a
 * page of Chromium. Compares the vault's chunks (with the browser's ChaCha20-Poly1305 and with
 * libsodium), typage, and the browser's AES-GCM in chunks of the same size. Also measures whole
 * uploads and downloads without the network, including digests and records. The last line is JSON.
 * Fails if the vault is less than three times as fast as typage.
 */
import { join } from "node:path";

import { buildEngine } from "@relicario/engine/build";
import { launchBrowser } from "@relicario/engine/browsers";
import { bundleScript, serve } from "@relicario/engine/serve";

/** Multiples of typage's speed in the same run. */
const limits = { seal_ratio: 3, open_ratio: 3 } as const;

const [megabytes = 128, rounds = 5] = process.argv
  .slice(2)
  .filter((word) => word !== "--")
  .map(Number);

await buildEngine(); // the server of the engine's vectors
const { origin, close } = await serve(
  new Map([
    ["/worker.js", await bundleScript(join(import.meta.dirname, "sealing.worker.ts"))],
    ["/page.js", await bundleScript(join(import.meta.dirname, "sealing.page.ts"))],
  ]),
);
const browser = await launchBrowser("Chromium");
if (browser === null) throw new Error("Chromium not found; set RELICARIO_CHROMIUM to its path");
try {
  console.log(`${await browser.version()}, ${String(megabytes)} MB, median of ${String(rounds)} rounds`);
  const page = await browser.newPage();
  await page.goto(`${origin}/`);
  const speeds = await page.evaluate(
    (size: number, times: number) => globalThis.measureSealing(size, times),
    megabytes,
    rounds,
  );
  const ratio = (numerator: string, denominator: string): number =>
    Math.round((100 * (speeds[numerator] ?? 0)) / (speeds[denominator] ?? Infinity)) / 100;
  const figures = {
    ...speeds,
    seal_ratio: ratio("browser_seal", "typage_seal"),
    open_ratio: ratio("browser_open", "typage_open"),
    seal_to_aes_gcm: ratio("browser_seal", "aes_gcm_seal"),
    open_to_aes_gcm: ratio("browser_open", "aes_gcm_seal"),
    send_ratio: ratio("seal_and_send", "typage_seal"),
    save_ratio: ratio("fetch_and_save", "typage_open"),
  };
  for (const [name, value] of Object.entries(figures))
    console.log(
      `${name.padEnd(24)}${value.toFixed(name in speeds ? 1 : 2).padStart(8)}${name in speeds ? " MB/s" : " times"}`,
    );
  const ok = figures.seal_ratio >= limits.seal_ratio && figures.open_ratio >= limits.open_ratio;
  console.log(JSON.stringify({ bench: "sealing", ok, figures, limits }));
  process.exitCode = ok ? 0 : 1;
} finally {
  await browser.close();
  close();
}
