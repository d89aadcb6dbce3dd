import { pageStorage } from "@relicario/shared/contract";
import { Notice } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { getExposedPath } from "../session/fragment.ts";
import { NoticeBar } from "./OfflineNotice.tsx";

/** Warns on the page of a link that the link's key was in the path, and so was sent to servers. */
export function ExposedLinkNotice() {
  const { t } = useTranslation("header");
  const { pathname } = useLocation();
  if (getExposedPath(pageStorage.session) !== pathname) return null;
  return (
    <NoticeBar>
      <Notice tone="danger" role="alert" title={t("exposed_link.title")}>
        {t("exposed_link.body")}
      </Notice>
    </NoticeBar>
  );
}
