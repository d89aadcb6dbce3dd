import { PortalError } from "@relicario/shared/errors";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { destinations } from "../frame/navigation.ts";
import { AreaProblem } from "./RemoteBoundary.tsx";

/** A destination of the navigation whose remote could not be checked: nobody knows what it has. */
export function UnavailableArea() {
  const { t } = useTranslation("beta-sidebar");
  const { pathname } = useLocation();
  const { name } = destinations.find(({ path }) => path === pathname) ?? { name: "home" };
  return <AreaProblem area={t(`destination.${name}`)} error={unknown} onRetry={() => window.location.reload()} />;
}

const unknown = new PortalError("remote_refused");
