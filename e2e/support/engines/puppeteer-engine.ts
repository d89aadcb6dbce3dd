import { launchBrowser } from "@relicario/engine/browsers";

import { z } from "zod";

import type { ChromiumTools, Engine, EngineOptions, EnginePage, PageFunction, Target } from "./engine.ts";
import { act, describeTarget, findElement, keyInterval, poll, pollInterval, waitLimit } from "./locate.ts";

type Browser = NonNullable<Awaited<ReturnType<typeof launchBrowser>>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;

/** Chromium by its DevTools protocol, Firefox by WebDriver BiDi. Null when it is not installed. */
export async function startPuppeteerEngine(
  name: "Chromium" | "Firefox",
  options: EngineOptions,
): Promise<Engine | null> {
  const browser = await launchBrowser(name, options);
  if (browser === null) return null;
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  page.setDefaultTimeout(waitLimit);
  page.on("dialog", (dialog) => {
    dialog.accept().catch(() => undefined); // leaving a form: gone with its page
  });
  return {
    name,
    page: createPage(page),
    chromium: name === "Chromium" ? createChromiumTools(page) : null,
    close: () => browser.close(),
  };
}

function createPage(page: Page): EnginePage {
  /** In the page first, then in its frames. */
  const find = async (target: Target) => {
    for (const frame of page.frames()) {
      try {
        const handle = await frame.evaluateHandle(findElement, target);
        const element = handle.asElement();
        if (element !== null) return element as NonNullable<Awaited<ReturnType<Page["$"]>>>;
        await handle.dispose();
      } catch {
        continue; // a frame that is loading or gone
      }
    }
    return null;
  };
  type FoundElement = NonNullable<Awaited<ReturnType<typeof find>>>;
  const actOn = (target: Target, action: (element: FoundElement) => Promise<true | null>): Promise<void> =>
    act(target, async () => {
      const element = await find(target);
      return element === null ? null : action(element);
    });
  return {
    open: async (address) => {
      await page.goto(address);
    },
    getUrl: () => Promise.resolve(page.url()),
    run: <Arguments extends readonly unknown[], Result>(
      pageFunction: PageFunction<Arguments, Result>,
      ...args: Arguments
    ) => page.evaluate(toEvaluated(pageFunction), ...args) as Promise<Result>,
    runInFrames: <Arguments extends readonly unknown[], Result>(
      origin: string,
      pageFunction: PageFunction<Arguments, Result>,
      ...args: Arguments
    ) =>
      Promise.all(
        page
          .frames()
          .filter((frame) => URL.parse(frame.url())?.origin === origin)
          .map((frame) => frame.evaluate(toEvaluated(pageFunction), ...args) as Promise<Result>),
      ),
    press: async (target) => {
      await actOn(target, async (element) => {
        if (target.kind === "choice") {
          await element.evaluate((input) => (input as HTMLElement).click());
          return true;
        }
        const place = JSON.stringify(await element.boundingBox());
        await new Promise((resolve) => setTimeout(resolve, pollInterval));
        if (JSON.stringify(await element.boundingBox()) !== place) return null; // the click would miss it
        await element.click();
        return true;
      });
    },
    type: async (target, text) => {
      await actOn(target, async (element) => {
        await element.type(text);
        return true;
      });
    },
    typeOn: async (text) => {
      await page.keyboard.type(text, { delay: keyInterval });
    },
    chooseFile: async (target, file) => {
      await actOn(target, async (element) => {
        await (element as unknown as { uploadFile: (path: string) => Promise<void> }).uploadFile(file);
        return true;
      });
    },
    waitFor: (...targets) =>
      poll(targets.map(describeTarget).join(" or "), async () => {
        for (const target of targets) if ((await find(target)) !== null) return target;
        return null;
      }),
    isShown: async (target) => (await find(target)) !== null,
  };
}

/** Arguments cross as JSON, which Puppeteer's types do not say. */
function toEvaluated(pageFunction: PageFunction<never, unknown>): (...values: unknown[]) => unknown {
  return pageFunction as unknown as (...values: unknown[]) => unknown;
}

function createChromiumTools(page: Page): ChromiumTools {
  return {
    addPasskeys: async () => {
      const session = await page.createCDPSession();
      await session.send("WebAuthn.enable");
      await session.send("WebAuthn.addVirtualAuthenticator", {
        options: {
          protocol: "ctap2",
          ctap2Version: "ctap2_1",
          transport: "internal",
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
          hasPrf: true,
        },
      });
    },
    takeHeapSnapshot: async () => {
      const session = await page.createCDPSession();
      const chunks: Buffer[] = [];
      session.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => chunks.push(Buffer.from(chunk)));
      await session.send("HeapProfiler.collectGarbage");
      await session.send("HeapProfiler.takeHeapSnapshot", {});
      await session.detach();
      return Buffer.concat(chunks);
    },
    listFrameProcesses: async () => {
      const session = await page.createCDPSession();
      const events: unknown[] = [];
      session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown[])));
      const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
      await session.send("Tracing.start", {
        traceConfig: { includedCategories: ["disabled-by-default-devtools.timeline"] },
      });
      await session.send("Tracing.end");
      await complete;
      return events.flatMap((event) => FramesEvent.safeParse(event).data?.args.data.frames ?? []);
    },
  };
}

/** First event of a trace. */
const FramesEvent = z.object({
  name: z.literal("TracingStartedInBrowser"),
  args: z.object({
    data: z.object({ frames: z.array(z.object({ url: z.string(), processId: z.number() })) }),
  }),
});
