import { usePortal, type OpenedShare, type Sender } from "@relicario/shared/contract";
import { NumberedWords } from "@relicario/shared/forms";
import {
  Button,
  ButtonLink,
  Card,
  markVerbatim,
  Notice,
  Page,
  renderVerbatim,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useEffect, useRef, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { ProtectPanel } from "./ProtectPanel.tsx";

interface OpenedShareViewProps {
  readonly share: OpenedShare;
  readonly reportAction: ReactNode;
  readonly onClose: () => void;
}

/**
 * The opened share: a text is hidden until it is revealed, a file can be saved. Leaving the page
 * wipes the share.
 */
export function OpenedShareView({ share, reportAction, onClose }: OpenedShareViewProps) {
  const { t } = useTranslation("beta-recover-share");
  const { user } = usePortal();
  const topRef = useRef<HTMLDivElement>(null);
  useEffect(() => {
    topRef.current?.focus(); // the clicked button no longer exists
  }, []);
  const title = share.title.trim() === "" ? t("opened.untitled_title") : share.title;
  return (
    <Page title={share.title.trim() === "" ? title : markVerbatim(title)} lead={t("opened.lead_body")}>
      <TopStack ref={topRef} tabIndex={-1} role="group" aria-label={title}>
        <SenderNotice sender={share.sender} />
        <Card data-tour="shared-content">
          <share.View title={title} />
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
      title={t(`opened.from_${sender.trust}_title`, { name: markVerbatim(name) })}
    >
      <Stack $gap={2}>
        <p>{renderVerbatim(t(`opened.from_${sender.trust}_body`, { name: markVerbatim(name) }))}</p>
        {sender.safetyWords.length > 0 && sender.trust !== "compared" && (
          <NumberedWords words={sender.safetyWords} label={t("opened.words_label", { name })} />
        )}
      </Stack>
    </Notice>
  );
}

/** Invites a visitor who has no account. */
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

/** Keeps the page title in view when it takes the focus. */
const TopStack = styled(Stack)`
  outline: none;
  scroll-margin-top: 40vh;
`;
