import "./zod-settings.ts"; // before the first schema is made

import type { Language } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { detectLanguage } from "@relicario/shared/i18n";
import { createRoot } from "react-dom/client";

import { sessionDraw } from "./deployment/canary.ts";
import { loadDeployment, readPortalPage } from "./deployment/load.ts";
import { overrideKey } from "./deployment/override.ts";
import { DeploymentProblem } from "./DeploymentProblem.tsx";
import { createSweeps } from "./device/sweeps.ts";
import { preloadArea } from "./remotes/preload.ts";
import { takeFragment } from "./session/fragment.ts";
import { dropLinkSecret, dropOldLinkSecrets, keepLinkSecret } from "./session/link-secret.ts";
import { hostTexts } from "./settings/texts.ts";
import { createThemeStore } from "./settings/theme.ts";
import { warn } from "./warn.ts";
import { withLimit } from "./with-limit.ts";

const place = document.getElementById("root");
if (place === null) throw new TypeError("the page has no root");
const root = createRoot(place);
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
function takeOverFragment(): boolean {
  const taken = takeFragment(new URL(location.href), sessionStorage);
  if (taken === null) return false;
  history.replaceState(null, "", taken.address);
  const kept = taken.secret === null ? Promise.resolve() : keepLinkSecret(taken.secret, sessionStorage, Date.now());
  kept
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
const tidyLimitMs = 6_000;

/**
 * What earlier pages left: a sweep that was not finished, and what links carried more than ten
 * minutes ago.
 */
async function tidy(): Promise<void> {
  const dropOld = () =>
    dropOldLinkSecrets(sessionStorage, Date.now()).catch((error: unknown) => {
      warn("fragment", error); // tried again in a minute
    });
  setInterval(() => void dropOld(), 60_000);
  await withLimit(Promise.all([sweeps.finishMarked(), dropOld()]), tidyLimitMs).catch((error: unknown) => {
    warn("tidy", error); // what is marked stays so, until it is done or the person is signed in again
  });
}

/**
 * Loads the host's code and all shared modules. Federation never retries a shared script that
 * failed, so none is loaded later.
 */
async function allCode() {
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
  const own = hostTexts(language); // fetched beside the deployment
  own.catch(() => undefined); // awaited below
  let again = () => void start();
  const code = allCode().catch((cause: unknown) => {
    again = () => {
      location.reload();
    }; // modules that ran without all of their imports cannot be started again
    throw new PortalError("deployment_unreachable", { cause });
  });
  code.catch(() => undefined); // awaited below
  const tidied = tidy();
  try {
    const page = readPortalPage(document);
    const readDeployment = () =>
      loadDeployment({
        page,
        origin: location.origin,
        storage: localStorage,
        fetch: fetch.bind(window),
        now: Date.now,
        draw: sessionDraw(sessionStorage),
        override: sessionStorage.getItem(overrideKey),
        given: __SHARED__,
      });
    const verified = await readDeployment();
    preloadArea(verified, location, document);
    const startHost = await code;
    await tidied; // before anybody is signed in
    await startHost({ verified, readDeployment, sweeps, language, theme, texts: await own }, (page) => {
      root.render(page);
    });
  } catch (error) {
    const errors = (of: Language) =>
      hostTexts(of).then(
        (known) => known["errors"] ?? {},
        () => ({}),
      );
    const [en, es] = await Promise.all([errors("en"), errors("es")]);
    root.render(<DeploymentProblem code={toPortalError(error).code} texts={{ en, es }} onRetry={again} />);
  }
}

if (!takeOverFragment()) {
  // a link that is opened in the tab of a page that already runs
  window.addEventListener("hashchange", takeOverFragment);
  void start();
}
