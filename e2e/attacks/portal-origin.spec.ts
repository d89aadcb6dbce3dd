/**
 * Attacker: the service, or a team's static server. Each attack on the portal's own origin is made
 * in real browsers, first on a gateway that passes everything through, where it must succeed, then
 * on the real one.
 */
import { expect, test as base } from "@playwright/test";
import { launchBrowser, type BrowserName } from "@relicario/engine/browsers";
import { attackMarker, startAttackedOrigins, type AttackedOrigins } from "@relicario/tooling/attacked-origin";

type Browser = NonNullable<Awaited<ReturnType<typeof launchBrowser>>>;
type BrowserPage = Awaited<ReturnType<Browser["newPage"]>>;

const debianPackages = { Chromium: "chromium", Firefox: "firefox-esr" } as const satisfies Record<BrowserName, string>;

interface WorkerFixtures {
  readonly origins: AttackedOrigins;
  /** Starts the browser at first use. */
  readonly getBrowser: (name: BrowserName) => Promise<Browser>;
}

const test = base.extend<object, WorkerFixtures>({
  origins: [
    async ({}, use) => {
      const origins = await startAttackedOrigins();
      await use(origins);
      await origins.stop();
    },
    { scope: "worker" },
  ],
  getBrowser: [
    async ({}, use) => {
      const startedBrowsers = new Map<BrowserName, Browser>();
      await use(async (name) => {
        const browser = startedBrowsers.get(name) ?? (await launchBrowser(name));
        if (browser === null)
          throw new Error(
            `There is no ${name} to try the attacks in. Install one (Debian: apt-get install ${debianPackages[name]}), or name one with RELICARIO_${name.toUpperCase()}.`,
          );
        startedBrowsers.set(name, browser);
        return browser;
      });
      for (const browser of startedBrowsers.values()) await browser.close();
    },
    { scope: "worker" },
  ],
});

interface AttackContext {
  /** In a fresh browser profile. */
  readonly page: BrowserPage;
  readonly origin: string;
  /** URL of the upstream behind the gateway: `<origin>/api` or `<origin>/r/secrets`. */
  readonly upstreamUrl: string;
  readonly foreignOrigin: string;
  readonly takeForeignRequests: AttackedOrigins["takeForeignRequests"];
  readonly waitForRefusal: AttackedOrigins["waitForRefusal"];
}

interface Attack {
  readonly goal: string;
  readonly paths: readonly ("/api" | "/r/secrets")[];
  /** Resolves after the attack, with a check whether it succeeded. */
  readonly attempt: (context: AttackContext) => Promise<() => Promise<boolean>>;
  /** The attack is refused without Fetch Metadata too. */
  readonly withoutFetchMetadata?: true;
}

const bothPaths = ["/api", "/r/secrets"] as const;

/**
 * Whether the attacker's script ran with the portal's rights: it left a mark in the portal's
 * storage.
 */
const didScriptRun =
  ({ page, origin }: AttackContext) =>
  async (): Promise<boolean> => {
    const checkPage = await page.browserContext().newPage(); // the first page may still be busy with its refusal
    await checkPage.goto(`${origin}/home`);
    const isMarked = await checkPage.evaluate((name) => localStorage.getItem(name) !== null, attackMarker);
    await checkPage.close();
    return isMarked;
  };

const wasRedirected =
  ({ takeForeignRequests }: AttackContext) =>
  async (): Promise<boolean> =>
    takeForeignRequests().includes("/taken");

const attacks: readonly Attack[] = [
  ...["page.html", "page.xhtml", "picture.svg"].map((file): Attack => ({
    goal: `${file} of its own to be opened as a page of the portal`,
    paths: bothPaths,
    withoutFetchMetadata: true,
    attempt: async (context) => {
      await visit(context.page, `${context.upstreamUrl}/${file}`);
      return didScriptRun(context);
    },
  })),
  ...["iframe", "object", "embed"].map((tag): Attack => ({
    goal: `to be shown by an ${tag} of another page`,
    paths: bothPaths,
    withoutFetchMetadata: true,
    attempt: async (context) => {
      const { page, upstreamUrl, foreignOrigin, waitForRefusal } = context;
      await page.goto(`${foreignOrigin}/page`);
      const refusal = waitForRefusal(`${upstreamUrl}/page.html`);
      const loaded = page.evaluate(
        async (name, address) =>
          new Promise<void>((resolve) => {
            const element = document.createElement(name);
            for (const event of ["load", "error"]) element.addEventListener(event, () => resolve());
            element.setAttribute(name === "object" ? "data" : "src", address);
            if (name !== "iframe") element.setAttribute("type", "text/html");
            document.body.append(element);
          }),
        tag,
        `${upstreamUrl}/page.html`,
      );
      await Promise.race([loaded, refusal]);
      return didScriptRun(context);
    },
  })),
  {
    goal: "to be opened in a window of another page",
    paths: bothPaths,
    withoutFetchMetadata: true,
    attempt: async (context) => {
      const { page, upstreamUrl, foreignOrigin, waitForRefusal } = context;
      await page.goto(`${foreignOrigin}/page`);
      const refusal = waitForRefusal(`${upstreamUrl}/page.html`);
      const popupOpened = new Promise<BrowserPage | null>((resolve) => page.once("popup", resolve));
      await page.evaluate((address) => {
        open(address);
      }, `${upstreamUrl}/page.html`);
      const popup = await popupOpened;
      await Promise.race([
        refusal,
        popup
          ?.waitForFunction(() => location.href !== "about:blank" && document.readyState === "complete", { timeout: 0 })
          .catch(() => undefined),
      ]); // closed with its browser, after a refusal
      return didScriptRun(context);
    },
  },
  ...["home", "silent-renew.html"].flatMap((pageName): Attack[] => [
    {
      goal: `to register a service worker for the whole portal, from ${pageName}`,
      paths: bothPaths,
      attempt: async ({ page, origin, upstreamUrl }) => {
        await page.goto(`${origin}/${pageName}`);
        const scope = await page.evaluate(
          (address) =>
            navigator.serviceWorker.register(address, { scope: "/" }).then(
              (registration) => registration.scope,
              () => null,
            ),
          `${upstreamUrl}/worker.js`,
        );
        return async () => scope !== null;
      },
    },
    ...["Worker", "SharedWorker"].map((kind): Attack => ({
      goal: `its script to run as a ${kind}, from ${pageName}`,
      paths: bothPaths,
      attempt: async ({ page, origin, upstreamUrl }) => {
        await page.goto(`${origin}/${pageName}`);
        const ran = await page.evaluate(
          async (name, address) =>
            new Promise<boolean>((resolve) => {
              try {
                const worker = name === "Worker" ? new Worker(address) : new SharedWorker(address);
                worker.onerror = () => resolve(false);
                (worker instanceof Worker ? worker : worker.port).onmessage = () => resolve(true);
              } catch {
                resolve(false); // refused at once by the policy
              }
            }),
          kind,
          `${upstreamUrl}/worker.js`,
        );
        return async () => ran;
      },
    })),
    {
      goal: `a response of the service to run as a script of ${pageName}`,
      paths: ["/api"],
      attempt: async (context) => {
        await context.page.goto(`${context.origin}/${pageName}`);
        await runScriptElement(context.page, `${context.upstreamUrl}/script.js`, "text/javascript");
        return didScriptRun(context);
      },
    },
  ]),
  ...["data", "blob"].map((kind): Attack => ({
    goal: `script that it wrote into a ${kind} address to run as a module of the portal`,
    paths: ["/r/secrets"],
    attempt: async (context) => {
      const { page, origin } = context;
      await page.goto(`${origin}/home`);
      const address = await page.evaluate(
        (scheme, name) => {
          const script = `localStorage.setItem(${JSON.stringify(name)}, "script ran")`;
          return scheme === "data"
            ? `data:text/javascript,${encodeURIComponent(script)}`
            : URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
        },
        kind,
        attackMarker,
      );
      await runScriptElement(page, address, "module");
      return didScriptRun(context);
    },
  })),
  {
    goal: "to set a cookie for the portal's host",
    paths: bothPaths,
    attempt: async ({ page, origin, upstreamUrl }) => {
      await page.goto(`${origin}/home`);
      await fetchInPage(page, `${upstreamUrl}/cookie.json`);
      return () => page.evaluate((name) => document.cookie.includes(name), attackMarker);
    },
  },
  {
    goal: "to wipe what the portal keeps on this device",
    paths: bothPaths,
    attempt: async ({ page, origin, upstreamUrl }) => {
      await page.goto(`${origin}/home`);
      await page.evaluate(
        async () =>
          new Promise<void>((resolve, reject) => {
            const openRequest = indexedDB.open("kept", 1);
            openRequest.onerror = () => reject(new Error("not kept"));
            openRequest.onsuccess = () => {
              openRequest.result.close();
              resolve();
            };
          }),
      );
      await fetchInPage(page, `${upstreamUrl}/wipe.json`);
      return () => page.evaluate(async () => !(await indexedDB.databases()).some(({ name }) => name === "kept"));
    },
  },
  {
    goal: "to send a call of the portal elsewhere",
    paths: bothPaths,
    attempt: async (context) => {
      await context.page.goto(`${context.origin}/home`);
      await fetchInPage(context.page, `${context.upstreamUrl}/redirect.json`);
      return wasRedirected(context);
    },
  },
  ...["redirect.json", "refresh.txt", "link.html"].map((file): Attack => ({
    goal: `to redirect its visitor by ${file}`,
    paths: bothPaths,
    withoutFetchMetadata: true,
    attempt: async (context) => {
      await visit(context.page, `${context.upstreamUrl}/${file}`);
      return wasRedirected(context);
    },
  })),
];

/** Opens an address like a followed link. Firefox reports a refusal as a failed navigation. */
async function visit(page: BrowserPage, address: string): Promise<void> {
  await page.goto(address).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.includes("NS_ERROR_NET_ERROR_RESPONSE"))) throw error;
  });
}

/** Adds a script element, and waits until the script has run or was refused. */
async function runScriptElement(page: BrowserPage, address: string, type: string): Promise<void> {
  await page.evaluate(
    async (src, kind) =>
      new Promise<void>((resolve) => {
        const element = document.createElement("script");
        for (const event of ["load", "error"]) element.addEventListener(event, () => resolve());
        element.type = kind;
        try {
          element.src = src;
        } catch {
          resolve(); // refused at once, by trusted types
        }
        document.head.append(element);
      }),
    address,
    type,
  );
}

/** Fetches as the portal does; a refusal is a response too. */
async function fetchInPage(page: BrowserPage, address: string): Promise<void> {
  await page.evaluate(
    (url) =>
      fetch(url)
        .then((response) => response.text())
        .catch(() => null),
    address,
  );
}

/** Browsers obey these on any response: none may arrive. */
const sideEffectHeaders = ["set-cookie", "clear-site-data", "service-worker-allowed", "refresh", "link", "location"];

for (const name of ["Chromium", "Firefox"] as const) {
  test.describe(`in ${name}`, () => {
    for (const { goal, paths, attempt, withoutFetchMetadata = false } of attacks) {
      for (const upstream of paths) {
        test(`${upstream} wants ${goal}`, async ({ origins, getBrowser }) => {
          const browser = await getBrowser(name);
          const runAttack = async (
            origin: string,
            verify: (succeeded: () => Promise<boolean>) => Promise<void>,
          ): Promise<string[]> => {
            const context = await browser.createBrowserContext();
            try {
              const page = await context.newPage();
              const leakedHeaders: string[] = [];
              page.on("response", (response) => {
                if (response.url().startsWith(`${origin}${upstream}/`))
                  leakedHeaders.push(
                    ...Object.keys(response.headers()).filter((header) =>
                      sideEffectHeaders.includes(header.toLowerCase()),
                    ),
                  );
              });
              origins.takeForeignRequests();
              await verify(
                await attempt({
                  page,
                  origin,
                  upstreamUrl: `${origin}${upstream}`,
                  foreignOrigin: origins.foreignOrigin,
                  takeForeignRequests: origins.takeForeignRequests,
                  waitForRefusal: origins.waitForRefusal,
                }),
              );
              return leakedHeaders;
            } finally {
              await context.close();
            }
          };

          await test.step("succeeds at a gateway that passes everything through", async () => {
            await runAttack(origins.unguardedOrigin, (succeeded) => expect.poll(succeeded).toBe(true));
          });
          const guardedOrigins = withoutFetchMetadata
            ? [origins.guardedOrigin, origins.guardedWithoutFetchMetadata]
            : [origins.guardedOrigin];
          for (const origin of guardedOrigins) {
            await test.step("fails at the gateway", async () => {
              const leakedHeaders = await runAttack(origin, async (succeeded) => {
                expect(await succeeded()).toBe(false);
              });
              expect(leakedHeaders).toEqual([]);
            });
          }
        });
      }
    }
  });
}
