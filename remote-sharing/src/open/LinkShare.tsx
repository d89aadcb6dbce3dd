import type { SharePreview, Visitor } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { useVaultOperation } from "@relicario/shared/forms";
import { Page, Stack } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { LinkFailure } from "./LinkFailure.tsx";
import { PreviewSkeleton } from "./PreviewSkeleton.tsx";
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

/** Previews the share, which does not count as a view. Opens it when the person asks for it. */
export function LinkShare({ visitor, shareId, isPublic }: LinkShareProps) {
  const { t } = useTranslation("beta-recover-share");
  const openedShare = useOpenedShare();
  const previewQuery = useQuery({
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
  if (previewQuery.data?.audience === "person")
    return <PersonShare shareId={shareId} preview={previewQuery.data} openedShare={openedShare} />;
  return (
    <Page title={t("open.title")}>
      {openedShare.state.status === "closed" ? (
        <ShareClosed />
      ) : previewQuery.data !== undefined ? (
        <LinkSharePanel
          visitor={visitor}
          shareId={shareId}
          preview={previewQuery.data}
          isPublic={isPublic}
          openedShare={openedShare}
        />
      ) : previewQuery.isError ? (
        <LinkFailure error={previewQuery.error} onRetry={() => void previewQuery.refetch()} />
      ) : (
        <PreviewSkeleton />
      )}
    </Page>
  );
}

interface LinkSharePanelProps extends LinkShareProps {
  readonly preview: SharePreview;
  readonly openedShare: OpenedShareAccess;
}

function LinkSharePanel({ visitor, shareId, preview, isPublic, openedShare }: LinkSharePanelProps) {
  const operation = useVaultOperation();
  const handleOpen = (credentials: LinkCredentials) => {
    operation.start({
      run: (options) => visitor.openShare(shareId, credentials, options),
      onDone: openedShare.setShare,
      onLateResult: ({ dispose }) => {
        dispose();
      },
    });
  };
  if (isPortalError(operation.error, "share_unavailable", "link_incomplete"))
    return <LinkFailure error={operation.error} />;
  return (
    <Stack $gap={5}>
      <ShareFacts preview={preview} />
      <OpenForm visitor={visitor} preview={preview} operation={operation} onOpen={handleOpen} />
      {isPublic && <ReportLink shareId={shareId} />}
    </Stack>
  );
}
