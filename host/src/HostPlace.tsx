import { lazy, type ReactNode } from "react";

import { HostArea } from "./frame/HostArea.tsx";
import type { HostScreen } from "./places.ts";
import { UnavailableArea } from "./remotes/UnavailableArea.tsx";
import StatusPage from "./status/StatusPage.tsx"; // part of the page from the start: it is for when little else loads

const HelpPage = lazy(async () => ({ default: (await import("./help/HelpPage.tsx")).HelpPage }));
const DebugFlagsPage = lazy(() => import("./flags/DebugFlagsPage.tsx"));
const ValidateEmailPage = lazy(() => import("./validate-email/ValidateEmailPage.tsx"));

/** A screen of the host's own, at its place. */
export function HostPlace({ screen }: { readonly screen: HostScreen }) {
  return <HostArea>{hostScreens[screen]}</HostArea>;
}

const hostScreens: Readonly<Record<HostScreen, ReactNode>> = {
  help: <HelpPage />,
  status: <StatusPage />,
  "validate-email": <ValidateEmailPage />,
  flags: <DebugFlagsPage />,
  unavailable: <UnavailableArea />,
};
