import type { SecretRow } from "@relicario/shared/contract";
import { useTranslation } from "react-i18next";

/** Titles of secrets, in words where there is none. */
export function useSecretTitle(): (row: SecretRow) => string {
  const { t } = useTranslation("safeguard");
  return ({ label }) => (label === null || label.title === "" ? t("kit.untitled_title") : label.title);
}

/** Titles of those that are named by id, for a sentence. */
export function useSecretTitles(rows: readonly SecretRow[]): (ids: readonly string[]) => string {
  const titleOf = useSecretTitle();
  return (ids) =>
    rows
      .filter(({ secretId }) => ids.includes(secretId))
      .map(titleOf)
      .join(", ");
}
