import { CopyButton } from "@relicario/shared/forms";
import { Button, Card, SectionTitle, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { LinkPanel } from "../link/LinkPanel.tsx";
import { Words } from "./PasswordSection.tsx";
import type { MadeShare } from "./ShareForm.tsx";

interface MadeShareCardProps {
  readonly share: MadeShare;
  readonly onClose: () => void;
}

/** What is handed on now: the link, and apart from it the password. */
export function MadeShareCard({ share, onClose }: MadeShareCardProps) {
  const { t } = useTranslation("beta-share");
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    title.current?.focus(); // it took the place of the form
  }, []);
  const { link, person, password } = share;
  return (
    <Card aria-labelledby="share-made">
      <Stack $gap={5}>
        <SectionTitle id="share-made" ref={title} tabIndex={-1}>
          {t(link === null ? "made.person_title" : "made.link_title")}
        </SectionTitle>
        <p>{link === null ? t("made.person_body", { name: person?.userName ?? "" }) : t("made.link_body")}</p>
        <LinkPanel link={link ?? addressOfPersons(share.shareId)} />
        {password !== null && (
          <Stack $gap={3}>
            <SectionTitle as="h3">{t("made.password_title")}</SectionTitle>
            <SmallText>{t("made.password_body")}</SmallText>
            <Words aria-label={t("made.password_title")}>{password}</Words>
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
function addressOfPersons(shareId: string): string {
  return `${window.location.origin}/p-shared/${shareId}`;
}
