import "./zod-settings.ts"; // before the first schema is made

import type { Language } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { detectLanguage } from "@relicario/shared/i18n";
import { createRoot } from "react-dom/client";

import { sessionDraw } from "./deployment/canary.ts";
import { loadDeployment, readPortalPage } from "./deployment/load.ts";
import { DeploymentProblem } from "./DeploymentProblem.tsx";
import { takeFragment } from "./session/fragment.ts";
import { hostTexts } from "./settings/texts.ts";
import { createThemeStore } from "./settings/theme.ts";

const place = document.getElementById("root");
if (place === null) throw new TypeError("the page has no root");
const root = createRoot(place);
const theme = createThemeStore(window);

if (!takeOverFragment()) {
  window.addEventListener("hashchange", takeOverFragment); // a link that is opened in the tab of a page that already runs
  void start();
}

/** Stores the known parameters of the fragment, removes it from the address and the history, and reloads. */
function takeOverFragment(): boolean {
  const without = takeFragment(new URL(location.href), sessionStorage);
  if (without === null) return false;
  history.replaceState(null, "", without);
  location.reload();
  return true;
}

/** Loads the host's code and all shared modules. Federation never retries a shared script that failed, so none is loaded later. */
async function allCode() {
  await Promise.all([import("./start-host.tsx"), import("@relicario/shared/forms")]);
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
    again = () => { location.reload(); }; // modules that ran without all of their imports cannot be started again
    throw new PortalError("deployment_unreachable", { cause });
  });
  code.catch(() => undefined); // awaited below
  try {
    const page = readPortalPage(document);
    const readDeployment = () =>
      loadDeployment({ page, origin: location.origin, storage: localStorage, fetch: fetch.bind(window), now: Date.now, draw: sessionDraw(sessionStorage), given: __SHARED__ });
    const verified = await readDeployment();
    const startHost = await code;
    root.render(await startHost({ verified, readDeployment, language, theme, texts: await own }));
  } catch (error) {
    const errors = (of: Language) => hostTexts(of).then((known) => known["errors"] ?? {}, () => ({}));
    const [en, es] = await Promise.all([errors("en"), errors("es")]);
    root.render(<DeploymentProblem code={toPortalError(error).code} texts={{ en, es }} onRetry={again} />);
  }
}
