import { usePortal } from "@relicario/shared/contract";
import { RevealedContent } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, EmptyState, Notice, Page, SpacedRow } from "@relicario/shared/ui";
import { KeyRound, Share2 } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { AgeFileExport } from "./AgeFileExport.tsx";
import { clearOpenedSecret, retainOpenedSecret, useOpenedSecret } from "./opened-secret.ts";

/** The opened secret: hidden until asked for. Leaving the page puts it away. */
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
    <Page title={secret.title === "" ? t("open.untitled_title") : secret.title} lead={t("open.body")}>
      {!secret.current && (
        <Notice tone="warn" title={t("open.older_title", { version: secret.version })}>
          {t("open.older_body")}
        </Notice>
      )}
      {secret.author === "not_verified" && (
        <Notice tone="warn" title={t("open.author_title")}>
          {t("open.author_body")}
        </Notice>
      )}
      <Card>
        <RevealedContent title={secret.title} openedContent={secret} />
      </Card>
      {secret.content !== null && <AgeFileExport secret={secret} />}
      <SpacedRow>
        <Button onClick={handleClose}>{t("open.put_away_action")}</Button>
        <ButtonLink tone="quiet" to={`/share/${secret.secretId}`} icon={<Share2 aria-hidden />}>
          {t("open.share_action")}
        </ButtonLink>
      </SpacedRow>
    </Page>
  );
}
