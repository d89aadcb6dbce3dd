/**
 * From a picture to the list in a new profile: `pnpm bench:unlock [readings]`. The whole portal as
 * built, a photograph of 12 megapixels, one account without a passphrase and one with it. Each
 * reading is a browser profile of its own that signs in and unlocks: from the press on "Unlock" to
 * the question whose device it is, and from the answer to rows on the screen; while a person reads
 * the question nothing is counted. Where the time goes is taken from the vault's own progress, as
 * the page shows it. Times are medians, of the parts by themselves. The last line is JSON; fails
 * when a limit is missed.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";

import { chromium, type Browser } from "@playwright/test";
import { startPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { newAccount, signIn, signUp, type Account } from "../pages/account.ts";
import { answerDeviceQuestion, protect, showPicture } from "../pages/secrets.ts";
import { chromiumArguments } from "../support/browser.ts";
import { photographs } from "../support/photographs.ts";

/**
 * From the picture to rows on the screen, without and with a passphrase, milliseconds. For two
 * cores that nobody else uses.
 */
const limits = { without_ms: 1_500, with_passphrase_ms: 2_200 } as const;

const deviceAnswer = "My own device";
const ProcessingTexts = z.object({
  phase: z.object({ fetching_status: z.string(), passphrase_status: z.string(), opening_status: z.string() }),
  step: z.object({ decoding_status: z.string(), straight_status: z.string(), searching_status: z.string() }),
});
const processing = ProcessingTexts.parse(
  JSON.parse(await readFile(new URL("../../remote-recovery/src/locales/en/processing.json", import.meta.url), "utf8")),
);
/**
 * What the page says during each part. The keyring comes before the first progress, under the words
 * of the first phase.
 */
const partNames: Readonly<Record<string, string>> = {
  [processing.phase.fetching_status]: "helpers_ms",
  [processing.step.decoding_status]: "decode_ms",
  [processing.step.straight_status]: "straight_ms",
  [processing.step.searching_status]: "search_ms",
  [processing.phase.passphrase_status]: "argon2id_and_root_ms",
  [processing.phase.opening_status]: "slot_and_account_ms",
};

interface Marks {
  pressedAt: number | null;
  /** Each change of what the page says that it does, milliseconds since navigation. */
  readonly statusChanges: { readonly text: string; readonly at: number }[];
  questionAt: number | null;
  answeredAt: number | null;
  rowsAt: number | null;
}

const readings = z.coerce
  .number()
  .int()
  .min(1)
  .default(5)
  .parse(process.argv.slice(2).find((word) => word !== "--"));
const folder = await mkdtemp(join(tmpdir(), "relicario-bench-"));
const portal = await startPortal({
  port: 0,
  dataDir: join(folder, "data"),
  log: (line) => {
    console.log(line);
  },
});
const browser = await chromium.launch(chromiumArguments());
try {
  const withoutPassphrase = await measure(browser, null);
  const withPassphrase = await measure(browser, "four words and a number 7");
  const figures = {
    readings,
    load: loadavg()[0] ?? 0,
    without_ms: withoutPassphrase["total_ms"],
    with_passphrase_ms: withPassphrase["total_ms"],
    without: withoutPassphrase,
    with_passphrase: withPassphrase,
  };
  for (const [name, list] of Object.entries({ without: withoutPassphrase, with_passphrase: withPassphrase })) {
    for (const [part, ms] of Object.entries(list))
      console.log(`${name.padEnd(18)}${part.padEnd(24)}${ms.toFixed(0).padStart(8)}`);
  }
  const ok = Object.entries(limits).every(
    ([name, limit]) => (figures[name as keyof typeof limits] ?? Infinity) < limit,
  );
  console.log(JSON.stringify({ bench: "unlock", ok, figures, limits }));
  process.exitCode = ok ? 0 : 1;
} finally {
  await browser.close();
  await portal.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Medians of each part for one account, made for it. */
async function measure(chrome: Browser, passphrase: string | null): Promise<Readonly<Record<string, number>>> {
  const account = newAccount();
  const firstContext = await chrome.newContext({ baseURL: portal.origin });
  const page = await firstContext.newPage();
  await signUp(page, account);
  await protect(page, {
    text: "what is protected",
    title: "First",
    tags: [],
    image: { file: photographs.sunset, passphrase },
  });
  await answerDeviceQuestion(page, deviceAnswer);
  await firstContext.close();
  const samples: Readonly<Record<string, number>>[] = [];
  for (let reading = 0; reading < readings; reading++)
    samples.push(await unlockInNewProfile(chrome, account, passphrase));
  const names = [...new Set(samples.flatMap((sample) => Object.keys(sample)))];
  return Object.fromEntries(names.map((name) => [name, median(samples.map((sample) => sample[name] ?? 0))]));
}

/**
 * One new profile: signs in, shows the picture, answers the question; milliseconds of each part.
 */
async function unlockInNewProfile(
  chrome: Browser,
  account: Account,
  passphrase: string | null,
): Promise<Readonly<Record<string, number>>> {
  const context = await chrome.newContext({ baseURL: portal.origin, viewport: { width: 1280, height: 900 } });
  try {
    const page = await context.newPage();
    await page.addInitScript(watchUnlocking, deviceAnswer);
    await signIn(page, account);
    await page.goto("/secrets");
    await page.getByRole("link", { name: "Unlock with your picture" }).click();
    await showPicture(page, photographs.sunset, passphrase);
    await answerDeviceQuestion(page, deviceAnswer);
    await page.waitForFunction(
      () => (globalThis as unknown as { unlockMarks: Marks }).unlockMarks.rowsAt !== null,
      undefined,
      { timeout: 120_000 },
    );
    return computeParts(await page.evaluate(() => (globalThis as unknown as { unlockMarks: Marks }).unlockMarks));
  } finally {
    await context.close();
  }
}

/**
 * In the page, before anything of it runs: notes what was pressed, what the page said and when rows
 * stood on the screen.
 */
function watchUnlocking(answerText: string): void {
  const marks: Marks = { pressedAt: null, statusChanges: [], questionAt: null, answeredAt: null, rowsAt: null };
  Object.assign(globalThis, { unlockMarks: marks });
  addEventListener(
    "click",
    ({ target, timeStamp }) => {
      const text = target instanceof Element ? target.closest("button")?.textContent : undefined;
      if (text === "Unlock") marks.pressedAt = timeStamp;
      if (text === answerText) marks.answeredAt = timeStamp;
    },
    { capture: true },
  );
  const checkPage = (): void => {
    if (marks.pressedAt === null) return;
    const bar = document.querySelector("main [role=progressbar]")?.getAttribute("aria-labelledby");
    const text = bar == null ? null : document.getElementById(bar)?.textContent;
    if (marks.questionAt === null && text != null && marks.statusChanges.at(-1)?.text !== text)
      marks.statusChanges.push({ text, at: performance.now() });
    if (document.getElementById("device-question") !== null) marks.questionAt ??= performance.now();
  };
  new MutationObserver(() => {
    checkPage();
    if (marks.answeredAt === null || document.querySelector("li[aria-setsize]") === null) return;
    requestAnimationFrame(() => {
      marks.rowsAt ??= performance.now();
    });
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

function computeParts({
  pressedAt,
  statusChanges,
  questionAt,
  answeredAt,
  rowsAt,
}: Marks): Readonly<Record<string, number>> {
  if (pressedAt === null || questionAt === null || answeredAt === null || rowsAt === null)
    throw new Error("the list never came");
  const fetching = statusChanges.findIndex(({ text }) => text === processing.phase.fetching_status);
  if (fetching === -1) throw new Error("the page said nothing of what it did");
  const durations: Record<string, number> = { keyring_ms: (statusChanges[fetching]?.at ?? questionAt) - pressedAt };
  for (const [index, { text, at }] of statusChanges.entries()) {
    if (index < fetching) continue;
    const partName = partNames[text] ?? "other_ms";
    durations[partName] = (durations[partName] ?? 0) + (statusChanges[index + 1]?.at ?? questionAt) - at;
  }
  return {
    total_ms: questionAt - pressedAt + (rowsAt - answeredAt),
    ...durations,
    device_and_list_ms: rowsAt - answeredAt,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Infinity;
}
