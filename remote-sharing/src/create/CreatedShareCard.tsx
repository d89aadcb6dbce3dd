import { CopyButton, VerbatimOutput } from "@relicario/shared/forms";
import {
  Button,
  Card,
  markVerbatim,
  renderVerbatim,
  SectionTitle,
  SmallText,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { LinkPanel } from "../link/LinkPanel.tsx";
import type { CreatedShare } from "./ShareForm.tsx";

interface CreatedShareCardProps {
  readonly share: CreatedShare;
  readonly onClose: () => void;
}

export function CreatedShareCard({ share, onClose }: CreatedShareCardProps) {
  const { t } = useTranslation("beta-share");
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus(); // the card replaced the form
  }, []);
  const { link, person, password } = share;
  return (
    <Card aria-labelledby="share-made">
      <Stack $gap={5}>
        <SectionTitle id="share-made" ref={titleRef} tabIndex={-1}>
          {t(link === null ? "made.person_title" : "made.link_title")}
        </SectionTitle>
        <p>
          {link === null
            ? renderVerbatim(t("made.person_body", { name: markVerbatim(person?.userName ?? "") }))
            : t(password === null ? "made.link_body" : "made.link_password_body")}
        </p>
        <LinkPanel link={link ?? buildPersonShareUrl(share.shareId)} />
        {password !== null && (
          <Stack $gap={3}>
            <SectionTitle as="h3">{t("made.password_title")}</SectionTitle>
            <SmallText>{t("made.password_body")}</SmallText>
            <VerbatimOutput aria-label={t("made.password_title")}>{password}</VerbatimOutput>
            <SpacedRow $align="start">
              <CopyButton sensitive label={t("made.password_copy_action")} getText={() => password} />
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

/**
 * Builds the URL of a share for a person. It contains no key, because the person's own keys open
 * the share.
 */
function buildPersonShareUrl(shareId: string): string {
  return `${window.location.origin}/p-shared/${shareId}`;
}
