import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";

import { z } from "zod";

import type { Engine, EngineOptions, EnginePage, PageFunction, Target } from "./engine.ts";
import { act, describeTarget, findElement, keyInterval, poll } from "./locate.ts";

const driverPath = "/usr/bin/WebKitWebDriver";
const browserPaths = ["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser`);

/** What the driver answers when a script of the page goes elsewhere while it loads. */
const redirected = "unknown error: ";

/** WebDriver, https://www.w3.org/TR/webdriver2/: how a command refers to an element. */
const elementKey = "element-6066-11e4-a52e-4f735466cecf";
const ElementReference = z.looseObject({ [elementKey]: z.string() });
type ElementReference = z.infer<typeof ElementReference>;

/**
 * WebKitGTK by plain WebDriver, on a display without a screen. Null when it is not installed. Its
 * driver knows no passkeys.
 */
export async function startWebKit({ proxyOrigin }: EngineOptions): Promise<Engine | null> {
  const binary = browserPaths.find((path) => existsSync(path));
  if (binary === undefined || !existsSync(driverPath) || !existsSync("/usr/bin/Xvfb")) return null;
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const child of children.reverse()) {
      if (child.pid === undefined || child.exitCode !== null) continue;
      const exit = once(child, "exit");
      process.kill(-child.pid, "SIGTERM"); // with its own children
      await exit;
    }
  };
  try {
    const display = spawn("/usr/bin/Xvfb", ["-displayfd", "3", "-screen", "0", "1400x1000x24"], {
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    children.push(display);
    const displayPipe = display.stdio[3];
    if (displayPipe == null) throw new TypeError("Xvfb was started without a pipe");
    const [displayNumber] = z.array(z.unknown()).parse(await once(displayPipe, "data"));
    const port = await findFreePort();
    children.push(
      spawn("/usr/bin/dbus-run-session", ["--", driverPath, `--port=${String(port)}`, "--host=127.0.0.1"], {
        detached: true,
        stdio: ["ignore", "ignore", "inherit"],
        env: {
          ...process.env,
          DISPLAY: `:${String(displayNumber).trim()}`,
          LANG: "en_GB.UTF-8",
          LANGUAGE: "en_GB:en",
          GDK_BACKEND: "x11",
          NO_AT_BRIDGE: "1",
        },
      }),
    );
    const driver = `http://127.0.0.1:${String(port)}`;
    await poll("answer of WebKitWebDriver", () =>
      fetch(`${driver}/status`).then(
        () => true,
        () => null,
      ),
    );
    const args = ["--automation", ...(proxyOrigin === undefined ? [] : [`--proxy=${proxyOrigin}`])];
    const { sessionId } = z.object({ sessionId: z.string() }).parse(
      await send(driver, "POST", "/session", {
        capabilities: { alwaysMatch: { "webkitgtk:browserOptions": { binary, args } } },
      }),
    );
    const session = `${driver}/session/${sessionId}`;
    await send(session, "POST", "/timeouts", { script: 120_000, pageLoad: 60_000 });
    await send(session, "POST", "/window/rect", { width: 1280, height: 900 });
    return {
      name: "WebKit",
      page: createPage(session),
      chromium: null,
      close: async () => {
        await send(session, "DELETE", "").catch(() => undefined); // it may have ended with its browser
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const Answer = z.object({ value: z.unknown() });
const Failure = z.object({ error: z.string(), message: z.string() });

async function send(base: string, method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(base + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const { value } = Answer.parse(await response.json());
  const failure = Failure.safeParse(value);
  if (!response.ok) throw new Error(failure.success ? `${failure.data.error}: ${failure.data.message}` : path);
  return value;
}

function createPage(session: string): EnginePage {
  const post = (path: string, body: unknown): Promise<unknown> => send(session, "POST", path, body);
  const execute = async (pageFunction: { toString: () => string }, args: readonly unknown[]): Promise<unknown> => {
    const { error, result } = z.looseObject({ error: z.string().optional(), result: z.unknown().optional() }).parse(
      await post("/execute/async", {
        script: `const done = arguments[arguments.length - 1];
          Promise.resolve().then(() => (${pageFunction.toString()})(...Array.from(arguments).slice(0, -1))).then(
            (result) => done({ result }), (error) => done({ error: String(error) + "\\n" + String(error?.stack) }));`,
        args,
      }),
    );
    if (error !== undefined) throw new Error(error);
    return result;
  };
  const listFrames = async (): Promise<readonly ElementReference[]> =>
    z.array(ElementReference).parse(await post("/elements", { using: "css selector", value: "iframe" }));
  /** Scrolls the page, which a frame of another origin cannot. Leaves the driver in the frame. */
  const showInPage = async (frame: ElementReference, element: ElementReference): Promise<void> => {
    const center = await execute(
      (shown: Element) => {
        const { top, height } = shown.getBoundingClientRect();
        return top + height / 2;
      },
      [element],
    );
    await post("/frame", { id: null });
    await execute(
      (shown: Element, y: number) => {
        scrollBy({ top: shown.getBoundingClientRect().top + y - innerHeight / 2, behavior: "instant" });
      },
      [frame, center],
    );
    await post("/frame", { id: frame });
  };
  /** Leaves the driver in the frame of the element that was found, otherwise in the page. */
  const find = async (target: Target): Promise<ElementReference | null> => {
    await post("/frame", { id: null });
    const inPage = ElementReference.safeParse(await execute(findElement, [target]));
    if (inPage.success) return inPage.data;
    for (const frame of await listFrames()) {
      try {
        await post("/frame", { id: frame });
        const inFrame = ElementReference.safeParse(await execute(findElement, [target]));
        if (inFrame.success) {
          await showInPage(frame, inFrame.data);
          return inFrame.data;
        }
      } catch {
        // a frame that is loading or gone
      }
      await post("/frame", { id: null });
    }
    return null;
  };
  const actOn = (
    target: Target,
    action: (path: string, element: ElementReference) => Promise<unknown>,
  ): Promise<void> =>
    act(target, async () => {
      const element = await find(target);
      if (element === null) return null;
      await action(`/element/${element[elementKey]}`, element);
      return true;
    });
  return {
    open: async (address) => {
      await post("/url", { url: address }).catch((error: unknown) => {
        if (!(error instanceof Error && error.message === redirected)) throw error;
      });
    },
    getUrl: async () => z.string().parse(await send(session, "GET", "/url")),
    run: async <Arguments extends readonly unknown[], Result>(
      pageFunction: PageFunction<Arguments, Result>,
      ...args: Arguments
    ) => {
      await post("/frame", { id: null });
      return (await execute(pageFunction, args)) as Result;
    },
    runInFrames: async <Arguments extends readonly unknown[], Result>(
      origin: string,
      pageFunction: PageFunction<Arguments, Result>,
      ...args: Arguments
    ) => {
      const results: Result[] = [];
      await post("/frame", { id: null });
      for (const frame of await listFrames()) {
        await post("/frame", { id: frame });
        if ((await execute(() => location.origin, [])) === origin)
          results.push((await execute(pageFunction, args)) as Result);
        await post("/frame", { id: null });
      }
      return results;
    },
    press: async (target) => {
      await actOn(target, async (path, element) =>
        target.kind === "choice"
          ? execute((input: HTMLElement) => input.click(), [element])
          : post(`${path}/click`, {}),
      );
    },
    type: async (target, text) => {
      await actOn(target, async (path) => {
        await post(`${path}/click`, {}); // a frame of another origin takes no focus before
        return post(`${path}/value`, { text });
      });
    },
    typeOn: async (text) => {
      const actions = Array.from(text).flatMap((value) => [
        { type: "keyDown", value },
        { type: "keyUp", value },
        { type: "pause", duration: keyInterval },
      ]);
      await post("/actions", { actions: [{ type: "key", id: "keyboard", actions }] });
    },
    chooseFile: async (target, file) => {
      await actOn(target, (path) => post(`${path}/value`, { text: file }));
    },
    waitFor: (...targets) =>
      poll(targets.map(describeTarget).join(" or "), async () => {
        for (const target of targets) if ((await find(target)) !== null) return target;
        return null;
      }),
    isShown: async (target) => (await find(target)) !== null,
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new TypeError("a server on a port has a port");
  return address.port;
}
