import type { SecretOpeners } from "@relicario/shared/contract";
import { Notice, Verbatim } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

/** Lists secrets that no remaining opener would open; renders nothing without any. */
export function LostSecretsNotice({ secrets }: { readonly secrets: readonly SecretOpeners[] }) {
  const { t } = useTranslation("openers");
  if (secrets.length === 0) return null;
  return (
    <Notice tone="danger" role="alert" title={t("remove.losing_title", { count: secrets.length })}>
      <p>{t("remove.losing_body")}</p>
      <ul>
        {secrets.map(({ secretId, title }) => (
          <li key={secretId}>
            <Verbatim>{title}</Verbatim>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
