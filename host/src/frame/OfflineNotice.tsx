import { media, Notice, space } from "@relicario/shared/ui";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

export function OfflineNotice() {
  const { t } = useTranslation("header");
  const online = useOnline();
  if (online) return null;
  return (
    <NoticeBar>
      <Notice tone="warn" role="status">
        {t("offline_body")}
      </Notice>
    </NoticeBar>
  );
}

/** Whether the browser reports a network connection. */
export function useOnline(): boolean {
  return useSyncExternalStore(subscribe, () => navigator.onLine);
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("online", listener);
  window.addEventListener("offline", listener);
  return () => {
    window.removeEventListener("online", listener);
    window.removeEventListener("offline", listener);
  };
}

export const NoticeBar = styled.div`
  max-width: 1040px;
  margin: 0 auto;
  padding: ${space(4)} ${space(6)} 0;
  ${media.mobile} {
    padding-inline: ${space(4)};
  }
`;
