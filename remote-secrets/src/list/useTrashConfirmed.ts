import { usePortal, type SecretRow } from "@relicario/shared/contract";
import { trashDays } from "@relicario/shared/api";
import { useTranslation } from "react-i18next";

/** Asks, moves a secret to the trash, and says so. What fails is shown by the mutation. */
export function useTrashConfirmed(trash: (secretId: string) => Promise<void>) {
  const { t } = useTranslation("beta-home");
  const { confirm, notify } = usePortal();
  return async (row: SecretRow): Promise<void> => {
    const sure = await confirm({
      title: t("trash.confirm_title"),
      description: t("trash.confirm_body", { days: trashDays }),
      confirmLabel: t("trash.confirm_action"),
      alert: true,
    });
    if (!sure) return;
    try {
      await trash(row.secretId);
      notify({ tone: "success", text: t("trash.done_status") });
    } catch {
      // the list shows the mutation's error in words, and the row stays where it was
    }
  };
}
