import { pageStorage } from "@relicario/shared/contract";
import { Button, Notice } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { useAreaTitle } from "../area/area-title.ts";
import { useHost } from "../context/host-context.ts";
import { loadLeftOut } from "../safe-start/left-out.ts";
import { NoticeBar } from "./OfflineNotice.tsx";

/** Names the areas that the person left out, and loads them again (SafeStartOffer.tsx). */
export function LeftOutNotice() {
  const { t } = useTranslation("header");
  const { remotes } = useHost().verifiedDeployment;
  const getAreaTitle = useAreaTitle();
  const leftOut = [...remotes].filter(([, remote]) => remote.status === "refused" && remote.code === "remote_left_out");
  if (leftOut.length === 0) return null;
  return (
    <NoticeBar>
      <Notice
        tone="warn"
        role="status"
        title={t("left_out.title")}
        actions={
          <Button
            size="small"
            onClick={() => {
              loadLeftOut(pageStorage.session, window.location);
            }}
          >
            {t("left_out.load_action")}
          </Button>
        }
      >
        {t("left_out.body", { areas: leftOut.map(([name]) => getAreaTitle(name)).join(", ") })}
      </Notice>
    </NoticeBar>
  );
}
