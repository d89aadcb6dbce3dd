import "./zod-settings.ts"; // before the first schema is made

import type { Language } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { detectLanguage } from "@relicario/shared/i18n";
import { createRoot } from "react-dom/client";

import { getRolloutBucket } from "./deployment/canary.ts";
import { loadDeployment, readTrustAnchors } from "./deployment/load.ts";
import { overrideKey } from "./deployment/override.ts";
import { DeploymentProblem } from "./DeploymentProblem.tsx";
import { createSweeps } from "./device/sweeps.ts";
import { preloadArea } from "./remotes/preload.ts";
import { takeFragment } from "./session/fragment.ts";
import { dropLinkSecret, dropOldLinkSecrets, saveLinkSecret } from "./session/link-secret.ts";
import { loadHostTexts } from "./settings/texts.ts";
import { createThemeStore } from "./settings/theme.ts";
import { warn } from "./telemetry/warn.ts";
import { withTimeout } from "./session/with-timeout.ts";

const container = document.getElementById("root");
if (container === null) throw new TypeError("the page has no root");
const root = createRoot(container);
const theme = createThemeStore(window);

const sweeps = createSweeps({
  storage: localStorage,
  now: Date.now,
  dropLinkSecret: () => dropLinkSecret(sessionStorage),
  log: warn,
});

/**
 * Removes the fragment from the address and the history at once, stores what of it is known, and
 * reloads.
 */
function handleFragment(): boolean {
  const fragment = takeFragment(new URL(location.href), sessionStorage);
  if (fragment === null) return false;
  history.replaceState(null, "", fragment.address);
  const saving =
    fragment.secret === null ? Promise.resolve() : saveLinkSecret(fragment.secret, sessionStorage, Date.now());
  saving
    .catch((error: unknown) => {
      warn("fragment", error); // not kept, such as on a full disk: the link has to be opened once more
    })
    .finally(() => {
      location.reload();
    });
  return true;
}

/**
 * A page starts no later than this, though the browser's databases do not answer; milliseconds.
 * Then tidying goes on beside it.
 */
const cleanupLimitMs = 6_000;

/**
 * What earlier pages left: a sweep that was not finished, and what links carried more than ten
 * minutes ago.
 */
async function cleanUp(): Promise<void> {
  const dropOldSecrets = () =>
    dropOldLinkSecrets(sessionStorage, Date.now()).catch((error: unknown) => {
      warn("fragment", error); // tried again in a minute
    });
  setInterval(() => void dropOldSecrets(), 60_000);
  await withTimeout(Promise.all([sweeps.finishMarked(), dropOldSecrets()]), cleanupLimitMs).catch((error: unknown) => {
    warn("tidy", error); // what is marked stays so, until it is done or the person is signed in again
  });
}

/**
 * Loads the host's code and all shared modules. Federation never retries a shared script that
 * failed, so none is loaded later.
 */
async function loadAllCode() {
  await Promise.all([
    import(/* webpackChunkName: "start-host" */ "./start-host.tsx"),
    import("@relicario/shared/forms"),
  ]);
  const { startHost } = await import("./start-host.tsx");
  return startHost;
}

/** Verifies the deployment, then starts the host, whose code is fetched meanwhile. */
async function start(): Promise<void> {
  const language = detectLanguage(localStorage, navigator.language);
  document.documentElement.lang = language;
  const textsPromise = loadHostTexts(language); // fetched beside the deployment
  textsPromise.catch(() => undefined); // awaited below
  let retry = () => void start();
  const codePromise = loadAllCode().catch((cause: unknown) => {
    retry = () => {
      location.reload();
    }; // modules that ran without all of their imports cannot be started again
    throw new PortalError("deployment_unreachable", { cause });
  });
  codePromise.catch(() => undefined); // awaited below
  const cleanup = cleanUp();
  try {
    const trustAnchors = readTrustAnchors(document);
    const readDeployment = () =>
      loadDeployment({
        page: trustAnchors,
        origin: location.origin,
        storage: localStorage,
        fetch: fetch.bind(window),
        now: Date.now,
        rolloutBucket: getRolloutBucket(sessionStorage),
        override: sessionStorage.getItem(overrideKey),
        providedPackages: __SHARED__,
      });
    const verified = await readDeployment();
    preloadArea(verified, location, document);
    const startHost = await codePromise;
    await cleanup; // before anybody is signed in
    await startHost({ verified, readDeployment, sweeps, language, theme, texts: await textsPromise }, (content) => {
      root.render(content);
    });
  } catch (error) {
    const loadErrorTexts = (textLanguage: Language) =>
      loadHostTexts(textLanguage).then(
        (texts) => texts["errors"] ?? {},
        () => ({}),
      );
    const [en, es] = await Promise.all([loadErrorTexts("en"), loadErrorTexts("es")]);
    root.render(<DeploymentProblem code={toPortalError(error).code} texts={{ en, es }} onRetry={retry} />);
  }
}

if (!handleFragment()) {
  // a link that is opened in the tab of a page that already runs
  window.addEventListener("hashchange", handleFragment);
  void start();
}
