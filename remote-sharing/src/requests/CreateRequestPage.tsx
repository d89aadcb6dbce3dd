import { Page } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { WithVault } from "../vault/WithVault.tsx";
import { RequestForm } from "./RequestForm.tsx";

/**
 * Route `/ask-for-secret`: creates a link that requests a secret. The sender needs no account.
 */
export default function CreateRequestPage() {
  const { t } = useTranslation("beta-share");
  return (
    <Page title={t("ask.title")} lead={t("ask.lead_body")}>
      <WithVault returnTo="/ask-for-secret">{(vault) => <RequestForm vault={vault} />}</WithVault>
    </Page>
  );
}
