import "./zod-settings.ts"; // before the first schema is created

import { pageStorage, type Language, type LinkSecret, type RemoteName } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { detectLanguage } from "@relicario/shared/i18n";
import { createRoot } from "react-dom/client";

import { getRolloutBucket } from "./deployment/canary.ts";
import { loadDeployment, readTrustAnchors } from "./deployment/load.ts";
import { overrideKey } from "./deployment/override.ts";
import { getManifest, type VerifiedDeployment } from "./deployment/verify.ts";
import { DeploymentProblem } from "./DeploymentProblem.tsx";
import { createSweeps, type Sweeps } from "./device/sweeps.ts";
import { preloadArea } from "./remotes/preload.ts";
import { addLeftOut, leaveOut, readLeftOut } from "./safe-start/left-out.ts";
import { SafeStartOffer } from "./safe-start/SafeStartOffer.tsx";
import { createStartRecords, type PageState } from "./safe-start/start-records.ts";
import { parseFragment, storeItems } from "./session/fragment.ts";
import { dropLinkSecret, dropOldLinkSecrets, holdLinkSecret, saveLinkSecret } from "./session/link-secret.ts";
import { loadHostTexts } from "./settings/texts.ts";
import { createThemeStore } from "./settings/theme.ts";
import { warn } from "./telemetry/warn.ts";
import { createFrameStorage } from "./vault-frame/frame-storage.ts";
import { createVaultFrame } from "./vault-frame/vault-frame.ts";
import { withTimeout } from "./session/with-timeout.ts";

/**
 * Removes the parameters of a link from the address and this tab's entry before anything else is
 * fetched or can fail; the browser's own history may have them. Stores them, then reloads the page.
 *
 * Where the browser refuses storage, the page keeps them in memory and does not reload: `held`.
 */
async function takeLink(): Promise<"none" | "held" | "reloading"> {
  const fragment = parseFragment(new URL(location.href));
  if (fragment === null) return "none";
  history.replaceState(null, "", fragment.address);
  const areItemsStored = storeItems(fragment.items, pageStorage.session, (error) => {
    warn("fragment", error); // for example a full disk: the page opens without these items
  });
  const isSecretStored = fragment.secret === null || (await saveSecret(fragment.secret));
  if (pageStorage.isSessionRefused() || !areItemsStored || !isSecretStored) return "held";
  location.reload();
  return "reloading";
}

async function saveSecret(secret: LinkSecret): Promise<boolean> {
  const isStored = await saveLinkSecret(secret, pageStorage.session, Date.now()).catch((error: unknown) => {
    warn("fragment", error); // for example on a full disk
    return false;
  });
  if (pageStorage.isSessionRefused() || !isStored) holdLinkSecret(secret, Date.now());
  return isStored;
}

const linkPromise = takeLink();

const container = document.getElementById("root");
if (container === null) throw new TypeError("the page has no root");
const root = createRoot(container);
const theme = createThemeStore(window);

const startRecords = createStartRecords({
  local: pageStorage.local,
  session: pageStorage.session,
  window,
  now: Date.now,
  createId: () => crypto.randomUUID(),
  getPageState,
});

let hasShownPage = false;

/** Whether the page is there, and people see it. */
function getPageState(): PageState {
  // the container itself has no height while the overlay of signing in or out covers the page
  const isShown =
    container?.isConnected === true &&
    [...container.children].some((child) => child.getBoundingClientRect().height > 0);
  hasShownPage ||= isShown;
  if (document.querySelector("[data-crashed]") !== null) return "broken";
  return isShown ? "shown" : hasShownPage || container?.isConnected !== true ? "broken" : "not_shown_yet";
}

/**
 * Asks whether to leave out remotes with which the page did not start twice ([Note: Safe start]).
 * Returns all that this tab leaves out.
 */
async function chooseLeftOut({ remotes }: VerifiedDeployment, language: Language): Promise<readonly RemoteName[]> {
  const leftOut = readLeftOut(pageStorage.session);
  const suspects = startRecords.suspects.filter(
    (name) => remotes.get(name)?.status === "verified" && !leftOut.includes(name),
  );
  if (suspects.length === 0) return leftOut;
  const areas = suspects.map((name) => getManifest(remotes.get(name))?.title[language] ?? name);
  const choice = await new Promise<"leave_out" | "all">((resolve) => {
    root.render(<SafeStartOffer language={language} areas={areas} onChoose={resolve} />);
  });
  root.render(null);
  if (choice === "leave_out") {
    addLeftOut(pageStorage.session, suspects);
    startRecords.forgetFailedStarts();
  }
  return readLeftOut(pageStorage.session);
}

/**
 * How long a page waits for the cleanup, in milliseconds. Then it starts, and the cleanup
 * continues.
 */
const cleanupLimitMs = 6_000;

/** Finishes sweeps of earlier pages, and deletes expired link secrets. */
async function cleanUp(sweeps: Sweeps): Promise<void> {
  const dropOldSecrets = () =>
    dropOldLinkSecrets(pageStorage.session, Date.now()).catch((error: unknown) => {
      warn("fragment", error); // tried again in a minute
    });
  setInterval(() => void dropOldSecrets(), 60_000);
  await withTimeout(Promise.all([sweeps.finishMarked(), dropOldSecrets()]), cleanupLimitMs).catch((error: unknown) => {
    warn("cleanup", error); // marks stay until their sweep is done or the person signs in again
  });
}

/**
 * Loads the host's code and all shared modules at start, because federation never retries a shared
 * script that failed.
 */
async function loadAllCode() {
  await Promise.all([
    import(/* webpackChunkName: "start-host" */ "./start-host.tsx"),
    import("@relicario/shared/forms"),
  ]);
  const { startHost } = await import("./start-host.tsx");
  return startHost;
}

/** Null until the host has started. */
let showPageAgain: (() => void) | null = null;

/** Verifies the deployment while the host's code loads, then starts the host. */
async function start(): Promise<void> {
  const language = detectLanguage(pageStorage.local, navigator.language);
  document.documentElement.lang = language;
  const textsPromise = loadHostTexts(language); // in parallel with the deployment
  textsPromise.catch(() => undefined); // awaited below
  let retry = () => void start();
  const codePromise = loadAllCode().catch((cause: unknown) => {
    retry = () => {
      location.reload();
    }; // modules whose imports failed cannot run again in this page
    throw new PortalError("deployment_unreachable", { cause });
  });
  codePromise.catch(() => undefined); // awaited below
  try {
    const trustAnchors = readTrustAnchors(document);
    const readVerified = () =>
      loadDeployment({
        trustAnchors,
        origin: location.origin,
        storage: pageStorage.local,
        locks: navigator.locks,
        fetch: fetch.bind(window),
        now: Date.now,
        rolloutBucket: getRolloutBucket(pageStorage.session),
        override: pageStorage.session.getItem(overrideKey),
        providedPackages: __SHARED__,
      });
    const allRemotes = await readVerified();
    const leftOut = await chooseLeftOut(allRemotes, language);
    const verifiedDeployment = leaveOut(allRemotes, leftOut);
    const readDeployment = async () => leaveOut(await readVerified(), leftOut);
    preloadArea(verifiedDeployment, location, document);
    const vaultFrame = createVaultFrame({
      vaultOrigin: verifiedDeployment.deployment.vault_origin,
      rolloutBucket: getRolloutBucket(pageStorage.session),
      window,
    });
    const sweeps = createSweeps({
      storage: pageStorage.local,
      now: Date.now,
      dropLinkSecret: () => dropLinkSecret(pageStorage.session),
      getVaultStorage: async () => createFrameStorage(await vaultFrame.getChannel()),
      log: warn,
    });
    const cleanupPromise = cleanUp(sweeps);
    const startHost = await codePromise;
    await cleanupPromise; // before anyone is signed in
    showPageAgain = await startHost(
      {
        verifiedDeployment,
        startRecords,
        readDeployment,
        vaultFrame,
        sweeps,
        language,
        theme,
        texts: await textsPromise,
      },
      (content) => {
        root.render(content);
      },
    );
  } catch (error) {
    const loadErrorTexts = (textLanguage: Language) =>
      loadHostTexts(textLanguage).then(
        (texts) => texts["errors"] ?? {},
        () => ({}),
      );
    const [en, es] = await Promise.all([loadErrorTexts("en"), loadErrorTexts("es")]);
    root.render(<DeploymentProblem error={toPortalError(error)} texts={{ en, es }} onRetry={retry} />);
  }
}

void linkPromise.then((outcome) => {
  if (outcome === "reloading") return;
  // a link that is opened in the tab of a page that already runs
  window.addEventListener("hashchange", () => {
    void takeLink().then((nextOutcome) => {
      if (nextOutcome === "held") showPageAgain?.(); // only this page has the link
    });
  });
  void start();
});
