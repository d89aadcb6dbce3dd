import { createChannel, type Deployment, type ReleaseRecord, type VaultPage } from "@relicario/shared/contract";
import { toPortalError } from "@relicario/shared/errors";

import { getIntegrity, impossibleIntegrity } from "../deployment/integrity.ts";
import { createLocks } from "../deployment/testing/locks.ts";
import { createSigner, signDocument, signRecord, type Signer } from "../deployment/testing/signer.ts";
import { startController, type ControllerPage } from "./start-controller.ts";

const portalOrigin = "https://portal.example.org";
const developmentOrigin = "https://dev.example.org";
const vaultOrigin = "https://vault.example.org";
const now = Date.parse("2026-11-26T10:00:00.000Z");
const hourMs = 60 * 60_000;
const hash = (letter: string) => `sha384-${letter.repeat(64)}`;
const controllerAddress = (release: string) => `${vaultOrigin}/r/recovery/${release}/vault-controller.js`;

const createRecord = (version: string, files: ReleaseRecord["files"] = {}): ReleaseRecord => ({
  v: 1,
  release: `recovery-${version}-0123456789ab`,
  version,
  manifest: {
    name: "recovery",
    contract: "^3",
    title: { en: "recovery", es: "recovery" },
    routes: [],
    namespaces: [],
    capabilities: [],
    api_paths: [],
  },
  files: { "vault-controller.js": hash("c"), "vault.js": hash("v"), ...files },
  federation: { id: "recovery", name: "recovery", shared: [{ name: "react", requiredVersion: "^19.0.0" }] },
});
const stable = createRecord("0.3.1");
const canary = createRecord("0.4.0");

describe("startController", () => {
  let portal: Signer;
  let team: Signer;
  beforeAll(async () => {
    portal = await createSigner("portal-1");
    team = await createSigner("team-1");
  });
  beforeEach(() => {
    localStorage.clear();
    sessionStorage.clear();
  });

  async function buildDeployment(changes: Partial<Deployment> = {}, records = [stable, canary]): Promise<Deployment> {
    return {
      v: 1,
      vendor_id: "relicario",
      origin: portalOrigin,
      vault_origin: vaultOrigin,
      sequence: 7,
      issued_at: new Date(now - hourMs).toISOString(),
      not_after: new Date(now + hourMs).toISOString(),
      environment: "test",
      app_version: "0.3.1",
      branding: { product_name: "Relicario", layout: "standard", colors: { light: {}, dark: {} } },
      identity: { authority: "https://id.example.org", client_id: "relicario-portal", scope: "openid" },
      api: { base_url: `${portalOrigin}/api`, credentials: false },
      features: {},
      messages: [],
      releases: { recovery: { stable: stable.release, canary: { release: canary.release, percent: 50 } } },
      release_records: Object.fromEntries(
        await Promise.all(records.map(async (record) => [record.release, await signRecord(record, team)] as const)),
      ),
      ...changes,
    };
  }

  /**
   * Starts the controller in a page as the gateway serves it. `runScript` runs the page's scripts.
   */
  async function start({
    deployment,
    signer = portal,
    response,
    hash: fragment = "#bucket=50",
    runScript,
    talkingOrigin = portalOrigin,
  }: {
    deployment?: Deployment;
    signer?: Signer;
    response?: Response;
    hash?: string;
    runScript?: (script: HTMLScriptElement, page: ControllerPage) => void;
    /** Origin of the window that frames the page. */
    talkingOrigin?: string;
  } = {}) {
    const started: unknown[] = [];
    const identities: unknown[] = [];
    const scripts: { src: string; integrity: string; crossOrigin: string | null }[] = [];
    const requests: string[] = [];
    const runController: typeof runScript = (script, target) => {
      target.startVaultController = ({ portalOrigin: named, identity }) => {
        started.push(named);
        identities.push(identity);
        return { connectElement: () => undefined };
      };
      script.dispatchEvent(new Event("load"));
    };
    const page: VaultPage = {
      vendor_id: "relicario",
      portal_keys: [portal.publicKey],
      team_keys: { recovery: [team.publicKey] },
      portal_origins: [portalOrigin, developmentOrigin],
    };
    const vaultDocument = document.implementation.createHTMLDocument();
    vaultDocument.head.innerHTML = `<script type="application/json" id="portal-page">${JSON.stringify(page)}</script>`;
    const notices: unknown[] = [];
    const listeners = { vault: new Set<(data: unknown) => void>(), portal: new Set<(data: unknown) => void>() };
    const parent = {
      postMessage: (data: { readonly relicario: string }, target: string) => {
        if (data.relicario !== "channel") notices.push([data, target]);
        else for (const listener of listeners.portal) listener(structuredClone(data));
      },
    };
    const vaultWindow: ControllerPage = {
      addEventListener: (_type, listener) =>
        listeners.vault.add((data) => {
          listener({ data, origin: talkingOrigin, source: parent as unknown as Window });
        }),
      document: vaultDocument,
      location: { origin: vaultOrigin, hash: fragment },
      navigator: { locks: createLocks() },
      parent: parent as ControllerPage["parent"],
      fetch: async (url) => {
        requests.push(url as string);
        return response ?? Response.json(await signDocument(deployment ?? (await buildDeployment()), signer));
      },
    };
    new MutationObserver((records) => {
      for (const node of records.flatMap(({ addedNodes }) => [...addedNodes])) {
        const script = node as HTMLScriptElement;
        scripts.push({ src: script.src, integrity: script.integrity, crossOrigin: script.crossOrigin });
        (runScript ?? runController)(script, vaultWindow);
      }
    }).observe(vaultDocument.head, { childList: true });
    startController(vaultWindow, { now: () => now, providedPackages: { react: "19.3.1" } });
    const portalChannel = createChannel({
      post: (message) => {
        for (const listener of listeners.vault) listener(structuredClone(message));
      },
      listen: (listener) => {
        listeners.portal.add(listener);
        return () => undefined;
      },
    });
    const loading = portalChannel.call("frame", ["loadVault"]).then(
      () => null,
      (error: unknown) => toPortalError(error).code,
    );
    return { started, identities, scripts, requests, notices, portalChannel, code: await loading };
  }

  it("is ready, and runs the controller of the verified release with its signed hash, once", async () => {
    const { started, identities, scripts, requests, notices, code } = await start();
    expect(code).toBeNull();
    expect(notices).toEqual([[{ relicario: "vault-ready" }, portalOrigin]]);
    expect(requests).toEqual(["/deployments/relicario"]);
    expect(scripts).toEqual([
      { src: controllerAddress(stable.release), integrity: hash("c"), crossOrigin: "anonymous" },
    ]);
    expect(started).toEqual([portalOrigin]);
    expect(identities).toEqual([{ authority: "https://id.example.org", clientId: "relicario-portal" }]);
  });

  it("allows the other files of the verified release, and files of no other release", async () => {
    await start();
    expect(getIntegrity(`${vaultOrigin}/r/recovery/${stable.release}/vault.js`)).toBe(hash("v"));
    expect(getIntegrity(`${vaultOrigin}/r/recovery/recovery-9.9.9-0123456789ab/vault.js`)).toBe(impossibleIntegrity);
  });

  it.each([
    ["#bucket=49.9", canary.release],
    ["#bucket=50", stable.release],
  ])("runs the canary release in the same sessions as the portal: %s", async (fragment, release) => {
    expect((await start({ hash: fragment })).scripts[0]?.src).toBe(controllerAddress(release));
  });

  it.each(["", "#bucket=", "#bucket=x", "#bucket=100", "#bucket=-1"])(
    "draws a bucket when the fragment names none: %s",
    async (fragment) => {
      const [first] = (await start({ hash: fragment })).scripts;
      expect((await start({ hash: fragment })).scripts[0]?.src).toBe(first?.src);
      expect(sessionStorage.getItem("releaseDraw")).not.toBeNull();
    },
  );

  it.each([
    ["#portal=https%3A%2F%2Fdev.example.org&bucket=50", developmentOrigin],
    ["#portal=https%3A%2F%2Fother.example.org&bucket=50", portalOrigin],
  ])("talks to a portal that the gateway named: %s", async (fragment, expected) => {
    expect((await start({ hash: fragment, talkingOrigin: expected })).started).toEqual([expected]);
  });

  it.each<[string, string, () => Promise<Parameters<typeof start>[0]>]>([
    ["another key signed the document", "deployment_refused", async () => ({ signer: await createSigner("portal-1") })],
    [
      "the document is another portal's",
      "deployment_refused",
      async () => ({ deployment: await buildDeployment({ origin: "https://other.example.org" }) }),
    ],
    [
      "the document has the vault elsewhere",
      "deployment_refused",
      async () => ({ deployment: await buildDeployment({ vault_origin: "https://safe.example.org" }) }),
    ],
    [
      "the document has expired",
      "deployment_expired",
      async () => ({ deployment: await buildDeployment({ not_after: new Date(now).toISOString() }) }),
    ],
    ["the gateway is down", "deployment_unreachable", async () => ({ response: new Response("", { status: 502 }) })],
    [
      "the document has no vault",
      "remote_refused",
      async () => ({ deployment: await buildDeployment({ releases: {} }) }),
    ],
    [
      "the team did not sign the release",
      "remote_refused",
      async () => ({
        deployment: await buildDeployment({ release_records: { [stable.release]: await signRecord(stable, portal) } }),
      }),
    ],
    [
      "the release is disabled",
      "remote_disabled",
      async () => ({ deployment: await buildDeployment({ disabled: [stable.release] }) }),
    ],
    [
      "the release has no controller",
      "remote_incompatible",
      async () => {
        const { "vault-controller.js": _, ...files } = stable.files;
        return { deployment: await buildDeployment({}, [{ ...stable, files }]) };
      },
    ],
    [
      "the script defines no controller",
      "remote_incompatible",
      async () => ({ runScript: (script) => script.dispatchEvent(new Event("load")) }),
    ],
    [
      "the script cannot be loaded, or has another hash",
      "remote_unreachable",
      async () => ({ runScript: (script) => script.dispatchEvent(new Event("error")) }),
    ],
    [
      "the controller throws",
      "unknown",
      async () => ({
        runScript: (script, page) => {
          page.startVaultController = () => {
            throw new TypeError("a detail");
          };
          script.dispatchEvent(new Event("load"));
        },
      }),
    ],
  ])("tells the portal nothing but a code when %s: %s", async (_case, expected, getOptions) => {
    const { started, code } = await start(await getOptions());
    expect(started).toEqual([]);
    expect(code).toBe(expected);
  });

  it("lists and wipes what the vault stores, also without a vault", async () => {
    const { portalChannel, code } = await start({ response: new Response("", { status: 502 }) });
    expect(code).toBe("deployment_unreachable");
    await expect(portalChannel.call("storage", ["read"])).resolves.toEqual({
      records: [],
      rowKeys: [],
      uploadKeys: [],
    });
    await expect(portalChannel.call("storage", ["wipeRows"], [{}])).rejects.toMatchObject({ code: "unknown" });
  });

  it("refuses a document that is older than one seen at this origin", async () => {
    await start({ deployment: await buildDeployment({ sequence: 9 }) });
    const { code } = await start({ deployment: await buildDeployment({ sequence: 8 }) });
    expect(code).toBe("deployment_older");
  });
});
