import { pageStorage } from "@relicario/shared/contract";
import { Button, Notice } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { overrideKey } from "../deployment/override.ts";
import { useHost } from "../context/host-context.ts";
import { useAreaTitle } from "../area/area-title.ts";
import { NoticeBar } from "./OfflineNotice.tsx";

/**
 * Says that this tab runs a developer's release, or why it does not. Shown until the developer
 * removes the override.
 */
export function OverrideNotice() {
  const { t } = useTranslation("header");
  const { override } = useHost().verifiedDeployment;
  const getAreaTitle = useAreaTitle();
  if (override === null) return null;
  const active = override.status === "active";
  const removeOverride = () => {
    pageStorage.session.removeItem(overrideKey);
    window.location.reload();
  };
  return (
    <NoticeBar>
      <Notice
        tone="warn"
        role="status"
        title={
          active ? t("override.active_title", { area: getAreaTitle(override.remote) }) : t("override.refused_title")
        }
        actions={
          <Button size="small" onClick={removeOverride}>
            {t(active ? "override.end_action" : "override.drop_action")}
          </Button>
        }
      >
        {active
          ? t("override.active_body", { release: override.release })
          : t(override.reason === "production" ? "override.production_body" : "override.invalid_body")}
      </Notice>
    </NoticeBar>
  );
}
