import { PortalError } from "@relicario/shared/errors";
import { lazy, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { HostArea } from "./area/HostArea.tsx";
import { destinations } from "./routes/navigation.ts";
import { AreaProblem } from "./area/RemoteBoundary.tsx";
import type { HostScreen } from "./routes/routes.ts";
import StatusPage from "./status/StatusPage.tsx"; // in the main bundle: needed when little else loads

const HelpPage = lazy(async () => ({ default: (await import("./help/HelpPage.tsx")).HelpPage }));
const DebugFlagsPage = lazy(() => import("./flags/DebugFlagsPage.tsx"));
const ValidateEmailPage = lazy(() => import("./validate-email/ValidateEmailPage.tsx"));

export function HostRoute({ screen }: { readonly screen: HostScreen }) {
  return <HostArea>{hostScreens[screen]}</HostArea>;
}

/**
 * Screen of a navigation destination whose remote could not be verified, so that its routes are
 * unknown.
 */
function UnavailableArea() {
  const { t } = useTranslation("beta-sidebar");
  const { pathname } = useLocation();
  const { name } = destinations.find(({ path }) => path === pathname) ?? { name: "home" };
  return <AreaProblem area={t(`destination.${name}`)} error={refusedError} onRetry={() => window.location.reload()} />;
}

const refusedError = new PortalError("remote_refused");

const hostScreens: Readonly<Record<HostScreen, ReactNode>> = {
  help: <HelpPage />,
  status: <StatusPage />,
  "validate-email": <ValidateEmailPage />,
  flags: <DebugFlagsPage />,
  unavailable: <UnavailableArea />,
};
