import { CopyButton } from "@relicario/shared/forms";
import { Button, Card, SectionTitle, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { LinkPanel } from "../link/LinkPanel.tsx";
import { PasswordOutput } from "./PasswordSection.tsx";
import type { CreatedShare } from "./ShareForm.tsx";

interface CreatedShareCardProps {
  readonly share: CreatedShare;
  readonly onClose: () => void;
}

/** What is handed on now: the link, and apart from it the password. */
export function CreatedShareCard({ share, onClose }: CreatedShareCardProps) {
  const { t } = useTranslation("beta-share");
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus(); // it took the place of the form
  }, []);
  const { link, person, password } = share;
  return (
    <Card aria-labelledby="share-made">
      <Stack $gap={5}>
        <SectionTitle id="share-made" ref={titleRef} tabIndex={-1}>
          {t(link === null ? "made.person_title" : "made.link_title")}
        </SectionTitle>
        <p>{link === null ? t("made.person_body", { name: person?.userName ?? "" }) : t("made.link_body")}</p>
        <LinkPanel link={link ?? buildPersonShareUrl(share.shareId)} />
        {password !== null && (
          <Stack $gap={3}>
            <SectionTitle as="h3">{t("made.password_title")}</SectionTitle>
            <SmallText>{t("made.password_body")}</SmallText>
            <PasswordOutput aria-label={t("made.password_title")}>{password}</PasswordOutput>
            <SpacedRow $align="start">
              <CopyButton secret label={t("made.password_copy_action")} text={() => password} />
            </SpacedRow>
          </Stack>
        )}
        <SmallText>{t(password === null ? "made.again_body" : "made.again_password_body")}</SmallText>
        <div>
          <Button tone="quiet" onClick={onClose}>
            {t("made.close_action")}
          </Button>
        </div>
      </Stack>
    </Card>
  );
}

/** What is shared with one person opens by their keys: its address has none. */
function buildPersonShareUrl(shareId: string): string {
  return `${window.location.origin}/p-shared/${shareId}`;
}
