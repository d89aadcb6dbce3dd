import { cleanup } from "@testing-library/react";
import { useEffect } from "react";

import { RemoteManifest, usePortal, type Portal } from "../contract/index.ts";
import { Page } from "../ui/index.ts";
import { createScreenChecks } from "./conformance-checks.tsx";
import { conformance } from "./index.ts";

const address = "/settings/profile";
const manifest = RemoteManifest.parse({
  name: "settings",
  contract: "^3",
  title: { en: "Settings", es: "Ajustes" },
  routes: [{ path: address, titleKey: "settings:profile.title", access: "signed_in", shell: true }],
  namespaces: ["settings"],
  capabilities: [],
  api_paths: [],
});

const createRemote = (Screen: React.ComponentType) => ({
  routes: { [address]: () => Promise.resolve({ default: Screen }) },
});

/** Creates a screen with this effect and cleanup. */
function createScreen(effect: (portal: Portal) => undefined | (() => void)) {
  return function Screen() {
    const portal = usePortal();
    useEffect(() => effect(portal), [portal]);
    return <Page title="Profile" />;
  };
}

/** Runs a check of the kit on a remote that has only this screen. */
async function runCheck(name: string, Screen: React.ComponentType): Promise<void> {
  const check = createScreenChecks(address, createRemote(Screen), {}).find((candidate) => candidate.name === name);
  if (check === undefined) throw new Error(`the kit has no check "${name}"`);
  await check.run();
}

afterEach(() => {
  cleanup();
  document.body.replaceChildren();
  document.body.removeAttribute("class");
  document.documentElement.removeAttribute("style");
});

conformance(manifest, createRemote(createScreen(() => undefined)));

const leakCheckName = "leaves nothing behind after 20 mounts";

describe("a screen that throws", () => {
  const failAtRender = () => {
    throw new Error("no such garden");
  };
  const failInEffect = createScreen(() => {
    throw new Error("no such tree");
  });

  it.each([
    ["shows a screen that is accessible (en, light)", failAtRender, "no such garden"],
    ["survives a service that is down", failInEffect, "no such tree"],
    [leakCheckName, failAtRender, "no such garden"],
    [leakCheckName, failInEffect, "no such tree"],
  ])("fails the check “%s” with what it threw", async (name, Screen, message) => {
    const consoleError = jest.spyOn(console, "error").mockImplementation(() => undefined); // React's own report
    try {
      await expect(runCheck(name, Screen)).rejects.toThrow(
        new RegExp(`^The screen at ${address} threw:\\n.*${message}`),
      );
    } finally {
      consoleError.mockRestore();
    }
  });
});

it("gives screens a canvas, media queries and observers", async () => {
  const Screen = createScreen(() => {
    const context = document.createElement("canvas").getContext("2d");
    if (context === null) throw new Error("no canvas");
    context.fillStyle = "red";
    context.fillRect(0, 0, context.measureText("a label").width, 1);
    const observer = new ResizeObserver(() => undefined);
    observer.observe(document.body);
    const query = matchMedia("(min-width: 600px)");
    const listener = () => undefined;
    query.addEventListener("change", listener);
    return () => {
      observer.disconnect();
      query.removeEventListener("change", listener);
    };
  });
  await expect(runCheck(leakCheckName, Screen)).resolves.toBeUndefined();
});

describe("conformance", () => {
  it.each<readonly [string, (portal: Portal) => void, string]>([
    [
      "a listener of the window",
      () => {
        window.addEventListener("resize", () => undefined);
      },
      '20 × listener "resize" of window',
    ],
    [
      "a listener of the window, attached through the prototype",
      () => {
        EventTarget.prototype.addEventListener.call(window, "resize", () => undefined);
      },
      '20 × listener "resize" of window',
    ],
    [
      "a listener of the body",
      () => {
        document.body.addEventListener("click", () => undefined);
      },
      '20 × listener "click" of <body>',
    ],
    [
      "a listener of the html element",
      () => {
        document.documentElement.addEventListener("click", () => undefined);
      },
      '20 × listener "click" of <html>',
    ],
    [
      "a listener of onLock",
      ({ onLock }) => {
        onLock(() => undefined);
      },
      "a listener of portal.onLock",
    ],
    [
      "a listener of the vault",
      ({ vault }) => {
        void vault.then(({ subscribe }) => subscribe(() => undefined));
      },
      "a listener of the vault",
    ],
    [
      "an interval",
      () => {
        setInterval(() => undefined, 1_000);
      },
      "20 × interval, the last of 1000 ms",
    ],
    [
      "a timeout",
      () => {
        setTimeout(() => undefined, 30_000);
      },
      "20 × timeout, the last of 30000 ms",
    ],
    [
      "a worker",
      () => {
        new Worker("blob:worker");
      },
      "20 × Worker",
    ],
    [
      "an object URL",
      () => {
        URL.createObjectURL(new Blob(["leak"]));
      },
      "20 × object URL",
    ],
    [
      "an observer of the page",
      () => {
        new MutationObserver(() => undefined).observe(document.body, { subtree: true, childList: true });
      },
      "20 × MutationObserver of <body>",
    ],
    [
      "an element",
      () => {
        document.body.append(document.createElement("dialog"));
      },
      "20 × <dialog> in <body>",
    ],
    [
      "a class of the body",
      () => {
        document.body.classList.add("left");
      },
      "attribute class of <body>: left",
    ],
    [
      "an inline style of the html element",
      () => {
        document.documentElement.style.overflow = "hidden";
      },
      "attribute style of <html>: overflow: hidden;",
    ],
    [
      "style elements in the head",
      () => {
        document.head.append(document.createElement("style"));
      },
      "20 × <style> in <head>",
    ],
  ])("fails a remote that leaves %s", async (_, effect, message) => {
    const Screen = createScreen((portal) => {
      effect(portal);
    });
    await expect(runCheck(leakCheckName, Screen)).rejects.toThrow(message);
  });

  it.each<readonly [string, () => undefined | (() => void)]>([
    [
      "removes listeners by a signal",
      () => {
        const controller = new AbortController();
        for (const target of [window, document, document.body])
          target.addEventListener("keydown", () => undefined, { signal: controller.signal });
        return () => {
          controller.abort();
        };
      },
    ],
    [
      "has a one-time listener that ran",
      () => {
        window.addEventListener("hashchange", () => undefined, { once: true });
        window.dispatchEvent(new Event("hashchange"));
      },
    ],
    [
      "clears its timers",
      () => {
        const timers = [setInterval(() => undefined, 1_000), setTimeout(() => undefined, 30_000)];
        return () => {
          for (const timer of timers) clearTimeout(timer);
        };
      },
    ],
    [
      "terminates its worker and revokes the worker's URL",
      () => {
        const url = URL.createObjectURL(new Blob(["fine"]));
        const worker = new Worker(url);
        return () => {
          worker.terminate();
          URL.revokeObjectURL(url);
        };
      },
    ],
    [
      "restores attributes of the page",
      () => {
        document.body.classList.add("shown");
        return () => {
          document.body.removeAttribute("class");
        };
      },
    ],
    [
      "removes what it adds to the page",
      () => {
        const element = document.body.appendChild(document.createElement("dialog"));
        return () => {
          element.remove();
        };
      },
    ],
  ])("passes a remote that %s", async (_, effect) => {
    await expect(runCheck(leakCheckName, createScreen(effect))).resolves.toBeUndefined();
  });
});
