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

/** Saves what the fragment carries, clears the fragment so that no history has it, and loads the page anew. */
function takeOverFragment(): boolean {
  const without = takeFragment(new URL(location.href), sessionStorage);
  if (without === null) return false;
  history.replaceState(null, "", without);
  location.reload();
  return true;
}

/** The host's own, with what it gives to remotes: federation remembers for ever that a shared script did not come, so none is left for later. */
async function allCode() {
  await Promise.all([import("./start-host.tsx"), import("@relicario/shared/forms")]);
  const { startHost } = await import("./start-host.tsx");
  return startHost;
}

/** Deployment first, then the host: nothing is started that was not checked. Its code is on the way meanwhile. */
async function start(): Promise<void> {
  const language = detectLanguage(localStorage, navigator.language);
  document.documentElement.lang = language;
  const own = hostTexts(language); // on their way while the deployment is fetched
  own.catch(() => undefined); // told where they are waited for
  let again = () => void start();
  const code = allCode().catch((cause: unknown) => {
    again = () => { location.reload(); }; // what began to run without all of its code stays half begun
    throw new PortalError("deployment_unreachable", { cause });
  });
  code.catch(() => undefined); // told where it is waited for
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
