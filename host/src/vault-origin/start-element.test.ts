import { createChannel, type ReleaseRecord } from "@relicario/shared/contract";

import { createSigner } from "../deployment/testing/signer.ts";
import type { ControllerAccess, ElementConnection } from "./controller-access.ts";
import { startElement, type ElementDocument, type ElementOptions, type WindowOptions } from "./start-element.ts";

const portalOrigin = "https://portal.example.org";
const developmentOrigin = "https://dev.example.org";
const vaultOrigin = "https://vault.example.org";
const hash = (letter: string) => `sha384-${letter.repeat(64)}`;
const record: ReleaseRecord = {
  v: 1,
  release: "recovery-0.3.1-0123456789ab",
  version: "0.3.1",
  manifest: {
    name: "recovery",
    contract: "^3",
    title: { en: "recovery", es: "recovery" },
    routes: [],
    namespaces: [],
    capabilities: [],
    api_paths: [],
  },
  files: { "vault-element.js": hash("e") },
  federation: { id: "recovery", name: "recovery", shared: [] },
};
const texts: ElementOptions["texts"] = { en: {}, es: {} };

/** Opens the element's document in a page with these other frames. */
async function start({
  frames = [],
  hash: fragment = "",
  runs = true,
  answersFrom = portalOrigin,
  asWindow = false,
}: {
  frames?: readonly unknown[];
  hash?: string;
  /** Whether the release's script defines the element. */
  runs?: boolean;
  answersFrom?: string;
  /** Opened by an element of that page instead of framed by it. */
  asWindow?: boolean;
}) {
  const { publicKey } = await createSigner("portal-1");
  const failures: unknown[] = [];
  const targets: string[] = [];
  const started: ElementOptions[] = [];
  const startedWindows: WindowOptions[] = [];
  const scripts: HTMLScriptElement[] = [];
  const listeners = new Set<(message: unknown) => void>();
  const elementDocument = document.implementation.createHTMLDocument();
  elementDocument.body.innerHTML = `<script type="application/json" id="portal-page">${JSON.stringify({
    vendor_id: "relicario",
    portal_keys: [publicKey],
    team_keys: { recovery: [publicKey] },
    portal_origins: [portalOrigin, developmentOrigin],
  })}</script>`;
  const portalWindow = { ...Object.fromEntries(frames.entries()), length: frames.length };
  const peer = {
    ...portalWindow,
    parent: portalWindow,
    postMessage: (message: unknown, target: unknown) => {
      targets.push(String(target));
      for (const listener of listeners) listener(message);
    },
  };
  const page: Omit<ElementDocument, "parent"> & { parent?: ElementDocument["parent"] } = {
    addEventListener: (_type, listener) => {
      answer = (data) => {
        listener({ data, origin: answersFrom, source: peer as unknown as Window });
      };
    },
    document: elementDocument,
    location: { hash: fragment, origin: vaultOrigin },
    opener: asWindow ? peer : null,
  };
  let answer: (data: unknown) => void = () => undefined;
  createChannel({
    post: (data) => {
      answer(data);
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  }).serve("elementPage", { fail: (code: unknown) => failures.push(code) });
  jest.spyOn(elementDocument.head, "append").mockImplementation((script) => {
    if (!(script instanceof HTMLScriptElement)) return;
    scripts.push(script);
    if (runs) {
      page.startVaultElement = (options) => started.push(options);
      page.startVaultWindow = (options) => startedWindows.push(options);
    }
    script.dispatchEvent(new Event("load"));
  });
  page.parent = asWindow ? (page as unknown as ElementDocument["parent"]) : peer;
  await startElement(page as ElementDocument, texts);
  return { failures, targets, started, startedWindows, scripts };
}

const connection: ElementConnection = {
  port: {} as MessagePort,
  record,
  branding: { product_name: "Relicario", layout: "standard", colors: { light: {}, dark: {} } },
  drives: {},
};
const controllerFrame: { readonly relicarioController: ControllerAccess } = {
  relicarioController: { connect: () => Promise.resolve(connection) },
};

describe("startElement", () => {
  it("runs the signed script of the controller's release, with a port to the controller", async () => {
    const { started, scripts, failures } = await start({ frames: [{}, controllerFrame] });
    expect(scripts.map(({ src, integrity }) => [src, integrity])).toEqual([
      [`${vaultOrigin}/r/recovery/${record.release}/vault-element.js`, hash("e")],
    ]);
    expect(started).toEqual([
      expect.objectContaining({
        portalOrigin,
        port: connection.port,
        branding: connection.branding,
        drives: {},
        texts,
      }),
    ]);
    expect(failures).toEqual([]);
  });

  it("starts a window that an element opened, and speaks to that element alone", async () => {
    const { started, startedWindows, failures } = await start({ frames: [{}, controllerFrame], asWindow: true });
    expect(startedWindows).toEqual([expect.objectContaining({ port: connection.port, texts })]);
    expect([started, failures]).toEqual([[], []]);
    const { targets } = await start({ asWindow: true, answersFrom: vaultOrigin });
    expect(targets[0]).toBe(vaultOrigin);
  });

  it.each([
    ["vault_unavailable", { frames: [{}] }],
    ["remote_incompatible", { frames: [controllerFrame], runs: false }],
  ])("tells the page %s", async (code, settings) => {
    const { failures, started, targets } = await start(settings);
    expect(failures).toEqual([code]);
    expect(started).toEqual([]);
    expect(new Set(targets)).toEqual(new Set([portalOrigin]));
  });

  it.each([
    [`#portal=${encodeURIComponent(developmentOrigin)}`, developmentOrigin],
    ["#portal=https%3A%2F%2Fevil.example", portalOrigin],
  ])("speaks only to an origin that the gateway names: %s", async (fragment, target) => {
    const { targets } = await start({ hash: fragment, answersFrom: target });
    expect(targets[0]).toBe(target);
  });
});
