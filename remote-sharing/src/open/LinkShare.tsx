import type { SharePreview, Visitor } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { Page, Stack } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { useOperation } from "../vault/useOperation.ts";
import { LinkFailure } from "./LinkFailure.tsx";
import { OfferSkeleton } from "./OfferSkeleton.tsx";
import { OpenedShareView } from "./OpenedShareView.tsx";
import { OpenForm, type LinkCredentials } from "./OpenForm.tsx";
import { PersonShare } from "./PersonShare.tsx";
import { ShareClosed } from "./ShareClosed.tsx";
import { ReportLink } from "./ReportLink.tsx";
import { ShareFacts } from "./ShareFacts.tsx";
import { useOpenedShare, type OpenedShareAccess } from "./useOpenedShare.ts";

interface LinkShareProps {
  readonly visitor: Visitor;
  readonly shareId: string;
  readonly isPublic: boolean;
}

/** Looks first, which costs nothing; opens when the person says so. */
export function LinkShare({ visitor, shareId, isPublic }: LinkShareProps) {
  const { t } = useTranslation("beta-recover-share");
  const openedShare = useOpenedShare();
  const offerQuery = useQuery({
    queryKey: ["share", "look", shareId],
    queryFn: ({ signal }) => visitor.previewShare(shareId, { signal }),
    staleTime: Infinity,
    gcTime: 0,
    enabled: openedShare.state.status === "unopened",
  });
  if (openedShare.state.status === "open")
    return (
      <OpenedShareView
        share={openedShare.state.share}
        reportAction={isPublic ? <ReportLink shareId={shareId} /> : null}
        onClose={openedShare.close}
      />
    );
  if (offerQuery.data?.audience === "person")
    return <PersonShare shareId={shareId} offer={offerQuery.data} openedShare={openedShare} />;
  return (
    <Page title={t("open.title")}>
      {openedShare.state.status === "closed" ? (
        <ShareClosed />
      ) : offerQuery.data !== undefined ? (
        <OfferPanel
          visitor={visitor}
          shareId={shareId}
          offer={offerQuery.data}
          isPublic={isPublic}
          openedShare={openedShare}
        />
      ) : offerQuery.isError ? (
        <LinkFailure error={offerQuery.error} onRetry={() => void offerQuery.refetch()} />
      ) : (
        <OfferSkeleton />
      )}
    </Page>
  );
}

interface OfferPanelProps extends LinkShareProps {
  readonly offer: SharePreview;
  readonly openedShare: OpenedShareAccess;
}

function OfferPanel({ visitor, shareId, offer, isPublic, openedShare }: OfferPanelProps) {
  const { state, run, cancel } = useOperation();
  const failure = state.status === "failed" ? state.error : null;
  const handleOpen = (credentials: LinkCredentials) => {
    run(async (options) => {
      openedShare.setShare(await visitor.openShare(shareId, credentials, options), options.signal);
    });
  };
  if (isPortalError(failure, "share_unavailable", "link_incomplete")) return <LinkFailure error={failure} />;
  return (
    <Stack $gap={5}>
      <ShareFacts offer={offer} />
      <OpenForm
        visitor={visitor}
        offer={offer}
        running={state.status === "running" ? state : null}
        failure={failure}
        onOpen={handleOpen}
        onCancel={cancel}
      />
      {isPublic && <ReportLink shareId={shareId} />}
    </Stack>
  );
}
