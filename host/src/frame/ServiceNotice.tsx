import { Notice } from "@relicario/shared/ui";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";

import { useHost } from "../context/host-context.ts";
import { NoticeBar, useOnline } from "./OfflineNotice.tsx";

/**
 * Shown while the service does not respond. Not shown when another notice already says so: the
 * device is offline, or no session token could be obtained.
 */
export function ServiceNotice() {
  const { t } = useTranslation("header");
  const { reachability, session } = useHost();
  const down = useSyncExternalStore(reachability.subscribe, reachability.isDown);
  const exchange = useSyncExternalStore(session.exchange.subscribe, session.exchange.getState);
  const online = useOnline();
  if (!down || !online || (exchange.status === "empty" && exchange.error !== null)) return null;
  return (
    <NoticeBar>
      <Notice tone="warn" role="status" title={t("service_down.title")}>
        {t("service_down.body")} <Link to="/status">{t("service_down.status_action")}</Link>
      </Notice>
    </NoticeBar>
  );
}
