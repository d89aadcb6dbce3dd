import { usePortal, type OpenedShare, type Sender } from "@relicario/shared/contract";
import { RevealedContent } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, Notice, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { WordList } from "../link/WordList.tsx";
import { ProtectPanel } from "./ProtectPanel.tsx";

interface OpenedShareViewProps {
  readonly share: OpenedShare;
  /** A way to report it. */
  readonly reportAction: ReactNode;
  readonly onClose: () => void;
}

/** What was shared: hidden until asked for, or saved. Leaving the page puts it away. */
export function OpenedShareView({ share, reportAction, onClose }: OpenedShareViewProps) {
  const { t } = useTranslation("beta-recover-share");
  const { user } = usePortal();
  const topRef = useRef<HTMLDivElement>(null);
  useEffect(() => {
    topRef.current?.focus(); // the button that opened it is gone
  }, []);
  const title = share.title.trim() === "" ? t("opened.untitled_title") : share.title;
  return (
    <Page title={title} lead={t("opened.lead_body")}>
      <TopStack ref={topRef} tabIndex={-1} role="group" aria-label={title}>
        <SenderNotice sender={share.sender} />
        <Card data-tour="shared-content">
          <RevealedContent title={title} openedContent={share} />
        </Card>
      </TopStack>
      <Stack data-tour="shared-keep">
        {user.userId === "" ? <Invitation /> : <ProtectPanel share={share} title={title} />}
      </Stack>
      <SpacedRow data-tour="shared-put-away">
        <Button tone="quiet" onClick={onClose}>
          {t("opened.put_away_action")}
        </Button>
        {reportAction}
      </SpacedRow>
    </Page>
  );
}

function SenderNotice({ sender }: { readonly sender: Sender }) {
  const { t } = useTranslation("beta-recover-share");
  const name = sender.userName;
  return (
    <Notice
      tone={sender.trust === "compared" ? "success" : "info"}
      title={t(`opened.from_${sender.trust}_title`, { name })}
    >
      <Stack $gap={2}>
        <p>{t(`opened.from_${sender.trust}_body`, { name })}</p>
        {sender.safetyWords.length > 0 && sender.trust !== "compared" && (
          <WordList words={sender.safetyWords} label={t("opened.words_label", { name })} />
        )}
      </Stack>
    </Notice>
  );
}

/** For a visitor without an account. */
function Invitation() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <Notice
      title={t("opened.invite_title")}
      actions={
        <ButtonLink tone="quiet" size="small" to="/secret-landing">
          {t("open.landing_action")}
        </ButtonLink>
      }
    >
      {t("opened.invite_body")}
    </Notice>
  );
}

/** Its focus leaves the title above it in sight. */
const TopStack = styled(Stack)`
  outline: none;
  scroll-margin-top: 40vh;
`;
