import { parsePersonDetails, usePortal, type SharePreview, type Vault } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { RequestedOpener, useVaultOperation } from "@relicario/shared/forms";
import { Button, Card, Muted, Page, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { LockOpen } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { receivedKeys } from "../data/received.ts";
import { BlockedSender, ChangedSender, UnknownSender } from "../people/SenderDecision.tsx";
import { WithVault } from "../vault/WithVault.tsx";
import { LinkFailure } from "./LinkFailure.tsx";
import { ShareFacts } from "./ShareFacts.tsx";
import type { OpenedShareAccess } from "./useOpenedShare.ts";

interface PersonShareProps {
  readonly shareId: string;
  readonly preview: SharePreview;
  readonly openedShare: OpenedShareAccess;
}

/**
 * Opens a share that is sealed to this account's keys. It needs no link key, but one of the
 * account's openers and a decision about the sender.
 */
export function PersonShare({ shareId, preview, openedShare }: PersonShareProps) {
  const { t } = useTranslation("beta-recover-share");
  const { pathname } = useLocation();
  return (
    <Page title={t("open.title")}>
      <ShareFacts preview={preview} />
      <WithVault returnTo={pathname}>
        {(vault) => (
          <OpenPersonShare
            vault={vault}
            shareId={shareId}
            isViewLimited={preview.viewsLeft !== null}
            openedShare={openedShare}
          />
        )}
      </WithVault>
    </Page>
  );
}

interface OpenPersonShareProps {
  readonly vault: Vault;
  readonly shareId: string;
  readonly isViewLimited: boolean;
  readonly openedShare: OpenedShareAccess;
}

function OpenPersonShare({ vault, shareId, isViewLimited, openedShare }: OpenPersonShareProps) {
  const { t } = useTranslation("beta-recover-share");
  const { user } = usePortal();
  const client = useQueryClient();
  const operation = useVaultOperation({ vault });
  const { running, error, asksOpener } = operation;
  /** @param acceptedWords displayed safety words of an unknown sender whom the person accepts */
  const open = (acceptedWords?: readonly string[]) => {
    operation.start({
      run: (options, opener) =>
        vault.received.open(shareId, opener, { ...options, ...(acceptedWords === undefined ? {} : { acceptedWords }) }),
      onDone: (share) => {
        openedShare.setShare(share);
        void client.invalidateQueries({ queryKey: receivedKeys.all(user.userId) });
      },
      onLateResult: ({ dispose }) => {
        dispose();
      },
    });
  };
  const details = error === null ? null : parsePersonDetails(error);
  if (isPortalError(error, "share_unavailable", "link_incomplete")) return <LinkFailure error={error} />;
  if (isPortalError(error, "person_blocked") && details !== null)
    return <BlockedSender vault={vault} details={details} onContinue={() => open()} />;
  if (isPortalError(error, "person_unknown") && details !== null)
    return (
      <UnknownSender
        vault={vault}
        details={details}
        onAccept={() => open(details.safetyWords)}
        onDismiss={operation.cancel}
      />
    );
  if (isPortalError(error, "person_changed") && details !== null)
    return <ChangedSender vault={vault} details={details} onContinue={() => open()} onDismiss={operation.cancel} />;
  return (
    <Card data-tour="share-open">
      <Stack $gap={4}>
        <Stack $gap={2} data-tour="share-needs">
          <SectionTitle>{t("look.needs_title")}</SectionTitle>
          <Muted>{t("look.needs_own_picture_body")}</Muted>
          {isViewLimited && <Muted>{t("look.counts_body")}</Muted>}
        </Stack>
        <RequestedOpener
          vault={vault}
          operation={operation}
          reason={t("look.own_picture_body")}
          label={t("look.open_action")}
        />
        {!asksOpener && (
          <SpacedRow>
            <Button size="large" icon={<LockOpen aria-hidden />} pending={running} onClick={() => open()}>
              {t("look.open_action")}
            </Button>
          </SpacedRow>
        )}
      </Stack>
    </Card>
  );
}
