import { personDetails, usePortal, type OfferedShare, type Vault } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { Button, Card, Muted, Page, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { LockOpen } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";

import { receivedKeys } from "../data/received.ts";
import { BlockedSender, ChangedSender, UnknownSender } from "../people/SenderDecision.tsx";
import { OpenerPanel } from "../vault/OpenerPanel.tsx";
import { useOpenerAct } from "../vault/useOpenerAct.ts";
import { WithVault } from "../vault/WithVault.tsx";
import { LinkFailure } from "./LinkFailure.tsx";
import { ShareFacts } from "./ShareFacts.tsx";
import type { OpenedShareAccess } from "./useOpenedShare.ts";

interface PersonShareProps {
  readonly shareId: string;
  readonly offer: OfferedShare;
  readonly opened: OpenedShareAccess;
}

/**
 * Something that is sealed to this account's own keys: no link key, but a picture of the account,
 * and a decision about who sent it.
 */
export function PersonShare({ shareId, offer, opened }: PersonShareProps) {
  const { t } = useTranslation("beta-recover-share");
  const { pathname } = useLocation();
  return (
    <Page title={t("open.title")}>
      <ShareFacts offer={offer} />
      <WithVault returnTo={pathname}>
        {(vault) => <OpenForMe vault={vault} shareId={shareId} counts={offer.viewsLeft !== null} opened={opened} />}
      </WithVault>
    </Page>
  );
}

interface OpenForMeProps {
  readonly vault: Vault;
  readonly shareId: string;
  readonly counts: boolean;
  readonly opened: OpenedShareAccess;
}

function OpenForMe({ vault, shareId, counts, opened }: OpenForMeProps) {
  const { t } = useTranslation("beta-recover-share");
  const { user } = usePortal();
  const client = useQueryClient();
  const act = useOpenerAct();
  const { state } = act;
  /** @param accept the words that were shown of a sender who is not known yet */
  const open = (accept?: readonly string[]) => {
    act.start(async (opener, options) => {
      opened.keep(
        await vault.received.open(shareId, opener, { ...options, ...(accept === undefined ? {} : { accept }) }),
        options.signal,
      );
      void client.invalidateQueries({ queryKey: receivedKeys.all(user.userId) });
    });
  };
  const error = state.status === "failed" || state.status === "asking" ? state.error : null;
  const details = error === null ? null : personDetails(error);
  if (isPortalError(error, "share_unavailable", "link_incomplete")) return <LinkFailure error={error} />;
  if (isPortalError(error, "person_blocked") && details !== null)
    return <BlockedSender vault={vault} details={details} onGoOn={() => open()} />;
  if (isPortalError(error, "person_unknown") && details !== null)
    return <UnknownSender vault={vault} details={details} onAccept={() => open(details.words)} onLater={act.cancel} />;
  if (isPortalError(error, "person_changed") && details !== null)
    return <ChangedSender vault={vault} details={details} onGoOn={() => open()} onLater={act.cancel} />;
  return (
    <Card data-tour="share-open">
      <Stack $gap={4}>
        <Stack $gap={2} data-tour="share-needs">
          <SectionTitle>{t("look.needs_title")}</SectionTitle>
          <Muted>{t("look.needs_own_picture_body")}</Muted>
          {counts && <Muted>{t("look.counts_body")}</Muted>}
        </Stack>
        <OpenerPanel vault={vault} act={act} reason={t("look.own_picture_body")} action={t("look.open_action")} />
        {state.status !== "asking" && !(state.status === "running" && state.asked) && (
          <SpacedRow>
            <Button
              size="large"
              icon={<LockOpen aria-hidden />}
              pending={state.status === "running"}
              onClick={() => open()}
            >
              {t("look.open_action")}
            </Button>
          </SpacedRow>
        )}
      </Stack>
    </Card>
  );
}
