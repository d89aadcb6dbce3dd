import { usePortal } from "@relicario/shared/contract";
import {
  Button,
  ButtonLink,
  Card,
  EmptyState,
  markVerbatim,
  Notice,
  Page,
  renderVerbatim,
  SpacedRow,
} from "@relicario/shared/ui";
import { KeyRound, Share2 } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { clearOpenedSecret, retainOpenedSecret, useOpenedSecret } from "./opened-secret.ts";

/**
 * Route `/congrats-recover`: the opened secret, which an element of the vault shows. Leaving the
 * page wipes it.
 */
export default function CongratsRecoverPage() {
  const { t } = useTranslation("beta-recover");
  const { navigate } = usePortal();
  const secret = useOpenedSecret();
  useEffect(retainOpenedSecret, []);

  if (secret === null) {
    return (
      <Page title={t("closed.title")}>
        <EmptyState
          icon={<KeyRound />}
          title={t("closed.subtitle")}
          actions={<ButtonLink to="/secrets">{t("closed.list_action")}</ButtonLink>}
        >
          <p>{t("closed.body")}</p>
        </EmptyState>
      </Page>
    );
  }
  const handleClose = () => {
    clearOpenedSecret();
    navigate("/secrets");
  };
  return (
    <Page title={secret.title === "" ? t("open.untitled_title") : markVerbatim(secret.title)} lead={t("open.body")}>
      {!secret.current && (
        <Notice tone="warn" title={t("open.older_title", { version: secret.version })}>
          {t("open.older_body")}
        </Notice>
      )}
      {secret.signatureStatus === "not_verified" && (
        <Notice tone="warn" title={t("open.author_title")}>
          {t("open.author_body")}
        </Notice>
      )}
      {secret.signedTitle !== null && (
        <Notice title={t("open.renamed_title")}>
          {renderVerbatim(
            t("open.renamed_body", {
              title: markVerbatim(secret.signedTitle === "" ? t("open.untitled_title") : secret.signedTitle),
            }),
          )}
        </Notice>
      )}
      <Card>
        <secret.View title={t("open.untitled_title")} />
      </Card>
      <SpacedRow>
        <Button onClick={handleClose}>{t("open.put_away_action")}</Button>
        <ButtonLink tone="quiet" to={`/share/${secret.secretId}`} icon={<Share2 aria-hidden />}>
          {t("open.share_action")}
        </ButtonLink>
      </SpacedRow>
    </Page>
  );
}
