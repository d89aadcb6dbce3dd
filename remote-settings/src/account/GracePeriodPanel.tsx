import { usePortal } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Button, ErrorNotice, Notice, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";

import { useCancelDeletion } from "./deletion.ts";

export function GracePeriodPanel({ dueAt }: { readonly dueAt: string }) {
  const { t } = useTranslation("settings-delete");
  const { language, notify } = usePortal();
  const cancelDeletion = useCancelDeletion();
  const handleCancel = () => {
    cancelDeletion.mutate(undefined, {
      onSuccess: () => {
        notify({ tone: "success", text: t("grace.kept_status") });
      },
    });
  };
  return (
    <Stack $gap={4}>
      <Notice
        tone="danger"
        role="status"
        title={t("grace.title", { when: getFormats(language).dateTime(dueAt) })}
        actions={
          <Button size="small" pending={cancelDeletion.isPending} onClick={handleCancel}>
            {t("grace.keep_action")}
          </Button>
        }
      >
        {t("grace.body")} <Link to="/settings/data">{t("form.export_action")}</Link>
      </Notice>
      <ErrorNotice error={cancelDeletion.error} />
    </Stack>
  );
}
