import { usePortal, type OpenedShare, type Sender } from "@relicario/shared/contract";
import { RevealedContent } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, Notice, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { WordList } from "../link/WordList.tsx";
import { KeepPanel } from "./KeepPanel.tsx";

interface OpenedShareViewProps {
  readonly share: OpenedShare;
  /** A way to report it. */
  readonly report: ReactNode;
  readonly onPutAway: () => void;
}

/** What was shared: hidden until asked for, or saved. Leaving the page puts it away. */
export function OpenedShareView({ share, report, onPutAway }: OpenedShareViewProps) {
  const { t } = useTranslation("beta-recover-share");
  const { user } = usePortal();
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    top.current?.focus(); // the button that opened it is gone
  }, []);
  const title = share.title.trim() === "" ? t("opened.untitled_title") : share.title;
  return (
    <Page title={title} lead={t("opened.lead_body")}>
      <Top ref={top} tabIndex={-1} role="group" aria-label={title}>
        <SentBy sender={share.sender} />
        <Card data-tour="shared-content">
          <RevealedContent title={title} opened={share} />
        </Card>
      </Top>
      <Stack data-tour="shared-keep">
        {user.userId === "" ? <Invitation /> : <KeepPanel share={share} title={title} />}
      </Stack>
      <SpacedRow data-tour="shared-put-away">
        <Button tone="quiet" onClick={onPutAway}>
          {t("opened.put_away_action")}
        </Button>
        {report}
      </SpacedRow>
    </Page>
  );
}

function SentBy({ sender }: { readonly sender: Sender }) {
  const { t } = useTranslation("beta-recover-share");
  const name = sender.userName;
  return (
    <Notice
      tone={sender.standing === "compared" ? "success" : "info"}
      title={t(`opened.from_${sender.standing}_title`, { name })}
    >
      <Stack $gap={2}>
        <p>{t(`opened.from_${sender.standing}_body`, { name })}</p>
        {sender.words.length > 0 && sender.standing !== "compared" && (
          <WordList words={sender.words} label={t("opened.words_label", { name })} />
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
const Top = styled(Stack)`
  outline: none;
  scroll-margin-top: 40vh;
`;
