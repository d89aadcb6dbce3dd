/**
 * Times unlocking by a photograph of 12 megapixels, without and with a passphrase: `pnpm
 * bench:unlock [readings]`. Each reading uses a new browser profile, and takes two times: from
 * pressing "Unlock" to the device question, and from its answer to rows on the screen. Phases come
 * from the progress texts. Times are medians of each phase. The last line is JSON; fails when a
 * limit is missed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";

import { chromium, type Browser } from "@playwright/test";
import { startPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { newAccount, signIn, signUp, type Account } from "../pages/account.ts";
import { answerDeviceQuestion, protect, showPicture } from "../pages/secrets.ts";
import { createLaunchOptions } from "../support/browser.ts";
import { photographs } from "../support/photographs.ts";
import { readTexts } from "../support/texts.ts";

/** From the picture to rows on the screen, on two idle cores. */
const limits = { without_ms: 1_500, with_passphrase_ms: 2_200 } as const;

const viewport = { width: 1280, height: 900 };
const deviceAnswer = "My own device";
const t = readTexts("en");
const fetchingText = t("host/common:phase.fetching_status");
/** Phases by status text. The keyring is read under the text of the first phase. */
const phaseNames: Readonly<Record<string, string>> = {
  [fetchingText]: "helpers_ms",
  [t("host/common:step.decoding_status")]: "decode_ms",
  [t("host/common:step.straight_status")]: "straight_ms",
  [t("host/common:step.searching_status")]: "search_ms",
  [t("host/common:phase.passphrase_status")]: "argon2id_and_root_ms",
  [t("host/common:phase.opening_status")]: "slot_and_account_ms",
};

interface Marks {
  pressedAt: number | null;
  /** Each change of the status text, milliseconds since navigation. */
  readonly statusChanges: { readonly text: string; readonly at: number }[];
  questionAt: number | null;
  answeredAt: number | null;
  rowsAt: number | null;
}

const readingCount = z.coerce
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
const browser = await chromium.launch(createLaunchOptions());
try {
  const withoutPassphrase = await measure(browser, null);
  const withPassphrase = await measure(browser, "four words and a number 7");
  const figures = {
    readings: readingCount,
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

async function measure(chrome: Browser, passphrase: string | null): Promise<Readonly<Record<string, number>>> {
  const account = newAccount();
  const firstContext = await chrome.newContext({ baseURL: portal.origin, viewport });
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
  for (let reading = 0; reading < readingCount; reading++)
    samples.push(await unlockInNewProfile(chrome, account, passphrase));
  const names = [...new Set(samples.flatMap((sample) => Object.keys(sample)))];
  return Object.fromEntries(names.map((name) => [name, median(samples.map((sample) => sample[name] ?? 0))]));
}

/** Returns the milliseconds of each phase. */
async function unlockInNewProfile(
  chrome: Browser,
  account: Account,
  passphrase: string | null,
): Promise<Readonly<Record<string, number>>> {
  const context = await chrome.newContext({ baseURL: portal.origin, viewport });
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
    return computePhases(await page.evaluate(() => (globalThis as unknown as { unlockMarks: Marks }).unlockMarks));
  } finally {
    await context.close();
  }
}

/**
 * Runs in the page before its own scripts: records presses, status texts and when rows are on the
 * screen.
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
    if (document.querySelector("[data-vault-element=mark_question]") !== null) marks.questionAt ??= performance.now();
  };
  new MutationObserver(() => {
    checkPage();
    if (marks.answeredAt === null || document.querySelector("li[aria-setsize]") === null) return;
    requestAnimationFrame(() => {
      marks.rowsAt ??= performance.now();
    });
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

function computePhases({
  pressedAt,
  statusChanges,
  questionAt,
  answeredAt,
  rowsAt,
}: Marks): Readonly<Record<string, number>> {
  if (pressedAt === null || questionAt === null || answeredAt === null || rowsAt === null)
    throw new Error("the list did not appear");
  const fetching = statusChanges.findIndex(({ text }) => text === fetchingText);
  if (fetching === -1) throw new Error("the page showed no status");
  const durations: Record<string, number> = { keyring_ms: (statusChanges[fetching]?.at ?? questionAt) - pressedAt };
  for (const [index, { text, at }] of statusChanges.entries()) {
    if (index < fetching) continue;
    const phaseName = phaseNames[text] ?? "other_ms";
    durations[phaseName] = (durations[phaseName] ?? 0) + (statusChanges[index + 1]?.at ?? questionAt) - at;
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
