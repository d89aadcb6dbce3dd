import { usePortal } from "@relicario/shared/contract";
import { ErrorNotice, Loading, Skeleton } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { meQuery } from "../data/me.ts";
import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { DeleteForm } from "./DeleteForm.tsx";
import { GracePeriodPanel } from "./GracePeriodPanel.tsx";

/** Route `/settings/delete-account`. */
export default function DeleteAccountPage() {
  return (
    <SettingsFrame page="delete-account">
      <DeletionPanel />
    </SettingsFrame>
  );
}

function DeletionPanel() {
  const { t } = useTranslation("settings-delete");
  const me = useQuery(meQuery(usePortal()));
  if (me.isError) return <ErrorNotice error={me.error} onRetry={() => void me.refetch()} />;
  if (me.data === undefined) {
    return (
      <Loading label={t("page.loading_status")}>
        <Skeleton height="420px" />
      </Loading>
    );
  }
  const { deletion_due_at: dueAt } = me.data;
  return dueAt === null ? <DeleteForm me={me.data} /> : <GracePeriodPanel dueAt={dueAt} />;
}
