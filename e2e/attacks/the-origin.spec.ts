/**
 * What the service, or whoever fills a team's static server, may want in the portal's own origin,
 * tried in the browsers themselves. Each attack is first made on a gateway that passes everything
 * on, where it has to succeed, then on the real one.
 */
import { expect, test as base } from "@playwright/test";
import { start, type BrowserName } from "@relicario/engine/browsers";
import { markOfScript, startAttackedOrigins, type AttackedOrigins } from "@relicario/tooling/attacked-origin";

type Browser = NonNullable<Awaited<ReturnType<typeof start>>>;
type BrowserPage = Awaited<ReturnType<Browser["newPage"]>>;

const packages = { Chromium: "chromium", Firefox: "firefox-esr" } as const satisfies Record<BrowserName, string>;

interface Worker {
  readonly origins: AttackedOrigins;
  /** Starts a browser at its first use; the same one afterwards. */
  readonly browserOf: (name: BrowserName) => Promise<Browser>;
}

const test = base.extend<object, Worker>({
  origins: [
    async ({}, use) => {
      const origins = await startAttackedOrigins();
      await use(origins);
      await origins.stop();
    },
    { scope: "worker" },
  ],
  browserOf: [
    async ({}, use) => {
      const started = new Map<BrowserName, Browser>();
      await use(async (name) => {
        const browser = started.get(name) ?? (await start(name));
        if (browser === null)
          throw new Error(
            `There is no ${name} to try the attacks in. Install one (Debian: apt-get install ${packages[name]}), or name one with RELICARIO_${name.toUpperCase()}.`,
          );
        started.set(name, browser);
        return browser;
      });
      for (const browser of started.values()) await browser.close();
    },
    { scope: "worker" },
  ],
});

interface Field {
  /** In a browser profile that knows nothing yet. */
  readonly page: BrowserPage;
  readonly origin: string;
  /** What stands behind the gateway: `<origin>/api` or `<origin>/r/secrets`. */
  readonly behind: string;
  readonly elsewhere: string;
  readonly askedElsewhere: AttackedOrigins["askedElsewhere"];
  readonly refusalOf: AttackedOrigins["refusalOf"];
}

interface Attack {
  readonly wants: string;
  readonly at: readonly ("/api" | "/r/secrets")[];
  /**
   * Resolves once the browser is done with the attack; what it gives tells whether the attacker got
   * it.
   */
  readonly attempt: (field: Field) => Promise<() => Promise<boolean>>;
  /** Stopped without Fetch Metadata as well. */
  readonly alsoOldBrowsers?: true;
}

const both = ["/api", "/r/secrets"] as const;

/**
 * Whether script of the attacker ran with the portal's rights: it left its mark in the portal's
 * storage.
 */
const scriptRan =
  ({ page, origin }: Field) =>
  async (): Promise<boolean> => {
    const another = await page.browserContext().newPage(); // the first one may still be busy with its refusal
    await another.goto(`${origin}/home`);
    const marked = await another.evaluate((name) => localStorage.getItem(name) !== null, markOfScript);
    await another.close();
    return marked;
  };

const wasTaken =
  ({ askedElsewhere }: Field) =>
  async (): Promise<boolean> =>
    askedElsewhere().includes("/taken");

const attacks: readonly Attack[] = [
  ...["page.html", "page.xhtml", "picture.svg"].map((file): Attack => ({
    wants: `${file} of its own to be opened as a page of the portal`,
    at: both,
    alsoOldBrowsers: true,
    attempt: async (field) => {
      await visit(field.page, `${field.behind}/${file}`);
      return scriptRan(field);
    },
  })),
  ...["iframe", "object", "embed"].map((tag): Attack => ({
    wants: `to be shown by an ${tag} of another page`,
    at: both,
    alsoOldBrowsers: true,
    attempt: async (field) => {
      const { page, behind, elsewhere, refusalOf } = field;
      await page.goto(`${elsewhere}/page`);
      const refused = refusalOf(`${behind}/page.html`);
      const settled = page.evaluate(
        async (name, address) =>
          new Promise<void>((resolve) => {
            const element = document.createElement(name);
            for (const event of ["load", "error"]) element.addEventListener(event, () => resolve());
            element.setAttribute(name === "object" ? "data" : "src", address);
            if (name !== "iframe") element.setAttribute("type", "text/html");
            document.body.append(element);
          }),
        tag,
        `${behind}/page.html`,
      );
      await Promise.race([settled, refused]);
      return scriptRan(field);
    },
  })),
  {
    wants: "to be opened in a window of another page",
    at: both,
    alsoOldBrowsers: true,
    attempt: async (field) => {
      const { page, behind, elsewhere, refusalOf } = field;
      await page.goto(`${elsewhere}/page`);
      const refused = refusalOf(`${behind}/page.html`);
      const opened = new Promise<BrowserPage | null>((resolve) => page.once("popup", resolve));
      await page.evaluate((address) => {
        open(address);
      }, `${behind}/page.html`);
      const popup = await opened;
      await Promise.race([
        refused,
        popup
          ?.waitForFunction(() => location.href !== "about:blank" && document.readyState === "complete", { timeout: 0 })
          .catch(() => undefined),
      ]); // closed with its browser, after a refusal
      return scriptRan(field);
    },
  },
  ...["home", "silent-renew.html"].flatMap((from): Attack[] => [
    {
      wants: `to register a service worker for the whole portal, from ${from}`,
      at: both,
      attempt: async ({ page, origin, behind }) => {
        await page.goto(`${origin}/${from}`);
        const scope = await page.evaluate(
          (address) =>
            navigator.serviceWorker.register(address, { scope: "/" }).then(
              (registration) => registration.scope,
              () => null,
            ),
          `${behind}/worker.js`,
        );
        return async () => scope !== null;
      },
    },
    ...["Worker", "SharedWorker"].map((kind): Attack => ({
      wants: `its script to run as a ${kind}, from ${from}`,
      at: both,
      attempt: async ({ page, origin, behind }) => {
        await page.goto(`${origin}/${from}`);
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
          `${behind}/worker.js`,
        );
        return async () => ran;
      },
    })),
    {
      wants: `an answer of the service to run as a script of ${from}`,
      at: ["/api"],
      attempt: async (field) => {
        await field.page.goto(`${field.origin}/${from}`);
        await runScriptElement(field.page, `${field.behind}/script.js`, "text/javascript");
        return scriptRan(field);
      },
    },
  ]),
  ...["data", "blob"].map((kind): Attack => ({
    wants: `script that it wrote into a ${kind} address to run as a module of the portal`,
    at: ["/r/secrets"],
    attempt: async (field) => {
      const { page, origin } = field;
      await page.goto(`${origin}/home`);
      const address = await page.evaluate(
        (scheme, name) => {
          const script = `localStorage.setItem(${JSON.stringify(name)}, "script ran")`;
          return scheme === "data"
            ? `data:text/javascript,${encodeURIComponent(script)}`
            : URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
        },
        kind,
        markOfScript,
      );
      await runScriptElement(page, address, "module");
      return scriptRan(field);
    },
  })),
  {
    wants: "to set a cookie for the portal's host",
    at: both,
    attempt: async ({ page, origin, behind }) => {
      await page.goto(`${origin}/home`);
      await fetched(page, `${behind}/cookie.json`);
      return () => page.evaluate((name) => document.cookie.includes(name), markOfScript);
    },
  },
  {
    wants: "to wipe what the portal keeps on this device",
    at: both,
    attempt: async ({ page, origin, behind }) => {
      await page.goto(`${origin}/home`);
      await page.evaluate(
        async () =>
          new Promise<void>((resolve, reject) => {
            const opening = indexedDB.open("kept", 1);
            opening.onerror = () => reject(new Error("not kept"));
            opening.onsuccess = () => {
              opening.result.close();
              resolve();
            };
          }),
      );
      await fetched(page, `${behind}/wipe.json`);
      return () => page.evaluate(async () => !(await indexedDB.databases()).some(({ name }) => name === "kept"));
    },
  },
  {
    wants: "to send a call of the portal elsewhere",
    at: both,
    attempt: async (field) => {
      await field.page.goto(`${field.origin}/home`);
      await fetched(field.page, `${field.behind}/redirect.json`);
      return wasTaken(field);
    },
  },
  ...["redirect.json", "refresh.txt", "link.html"].map((file): Attack => ({
    wants: `to send whoever opens it elsewhere by ${file}`,
    at: both,
    alsoOldBrowsers: true,
    attempt: async (field) => {
      await visit(field.page, `${field.behind}/${file}`);
      return wasTaken(field);
    },
  })),
];

/**
 * As a person who follows a link. Firefox calls it a failed navigation when the answer is a
 * refusal.
 */
async function visit(page: BrowserPage, address: string): Promise<void> {
  await page.goto(address).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.includes("NS_ERROR_NET_ERROR_RESPONSE"))) throw error;
  });
}

/** Adds a script element, and waits until its script has run or was refused. */
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

/** Calls as the portal calls; refusals are answers too. */
async function fetched(page: BrowserPage, address: string): Promise<void> {
  await page.evaluate(
    (url) =>
      fetch(url)
        .then((answer) => answer.text())
        .catch(() => null),
    address,
  );
}

/**
 * What a browser obeys wherever it reads it; nothing of it may get there, also where its effect
 * would take a while.
 */
const orders = ["set-cookie", "clear-site-data", "service-worker-allowed", "refresh", "link", "location"];

for (const name of ["Chromium", "Firefox"] as const) {
  test.describe(`in ${name}`, () => {
    for (const { wants, at, attempt, alsoOldBrowsers = false } of attacks) {
      for (const place of at) {
        test(`${place} wants ${wants}`, async ({ origins, browserOf }) => {
          const browser = await browserOf(name);
          const made = async (
            origin: string,
            judge: (succeeded: () => Promise<boolean>) => Promise<void>,
          ): Promise<string[]> => {
            const context = await browser.createBrowserContext();
            try {
              const page = await context.newPage();
              const obeyed: string[] = [];
              page.on("response", (response) => {
                if (response.url().startsWith(`${origin}${place}/`))
                  obeyed.push(
                    ...Object.keys(response.headers()).filter((header) => orders.includes(header.toLowerCase())),
                  );
              });
              origins.askedElsewhere();
              await judge(
                await attempt({
                  page,
                  origin,
                  behind: `${origin}${place}`,
                  elsewhere: origins.elsewhere,
                  askedElsewhere: origins.askedElsewhere,
                  refusalOf: origins.refusalOf,
                }),
              );
              return obeyed;
            } finally {
              await context.close();
            }
          };

          await test.step("succeeds where everything is passed on", async () => {
            await made(origins.open, (succeeded) => expect.poll(succeeded).toBe(true));
          });
          const guarded = alsoOldBrowsers ? [origins.guarded, origins.guardedForOldBrowsers] : [origins.guarded];
          for (const origin of guarded) {
            await test.step("fails at the gateway", async () => {
              const obeyed = await made(origin, async (succeeded) => {
                expect(await succeeded()).toBe(false);
              });
              expect(obeyed).toEqual([]);
            });
          }
        });
      }
    }
  });
}
