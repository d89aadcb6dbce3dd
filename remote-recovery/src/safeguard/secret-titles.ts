import type { SecretRow } from "@relicario/shared/contract";
import { useTranslation } from "react-i18next";

/** Returns the title of a secret, or a placeholder if it has none. */
export function useSecretTitle(): (row: SecretRow) => string {
  const { t } = useTranslation("safeguard");
  return ({ label }) => (label === null || label.title === "" ? t("kit.untitled_title") : label.title);
}

export function useSecretTitles(rows: readonly SecretRow[]): (ids: readonly string[]) => string {
  const getTitle = useSecretTitle();
  return (ids) =>
    rows
      .filter(({ secretId }) => ids.includes(secretId))
      .map(getTitle)
      .join(", ");
}
