/**
 * How fast contents are sealed and opened: `pnpm bench:sealing [megabytes] [rounds]`. In one page
 * of a real Chromium: the vault's own sealing and opening (with the browser's ChaCha20-Poly1305 and
 * with libsodium's), plain typage, and the browser's AES-GCM in pieces of the same size. Beside
 * them the whole path without the network: with a digest of each part and one of the whole, and the
 * records. The last line is JSON; fails when the vault is not three times as fast as typage.
 */
import { join } from "node:path";

import { buildEngine } from "@relicario/engine/build";
import { launchBrowser } from "@relicario/engine/browsers";
import { bundleScript, serve } from "@relicario/engine/serve";

/** Times typage, in the same run (sealing.md, Budgets). */
const limits = { seal_ratio: 3, open_ratio: 3 } as const;

const [megabytes = 128, rounds = 5] = process.argv
  .slice(2)
  .filter((word) => word !== "--")
  .map(Number);

await buildEngine(); // the server of the vectors is used, which also serves the engine
const { origin, close } = await serve(
  new Map([
    ["/worker.js", await bundleScript(join(import.meta.dirname, "sealing.worker.ts"))],
    ["/page.js", await bundleScript(join(import.meta.dirname, "sealing.page.ts"))],
  ]),
);
const browser = await launchBrowser("Chromium");
if (browser === null) throw new Error("Chromium is not installed; RELICARIO_CHROMIUM names another one");
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
