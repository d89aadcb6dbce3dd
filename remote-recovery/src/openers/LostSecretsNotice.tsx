import type { SecretOpeners } from "@relicario/shared/contract";
import { Notice } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

/** Names the secrets that nothing would open any more; nothing where there is none. */
export function LostSecretsNotice({ secrets }: { readonly secrets: readonly SecretOpeners[] }) {
  const { t } = useTranslation("openers");
  if (secrets.length === 0) return null;
  return (
    <Notice tone="danger" role="alert" title={t("remove.losing_title", { count: secrets.length })}>
      <p>{t("remove.losing_body")}</p>
      <ul>
        {secrets.map(({ secretId, title }) => (
          <li key={secretId}>{title}</li>
        ))}
      </ul>
    </Notice>
  );
}
