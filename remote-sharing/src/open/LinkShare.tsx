import type { OfferedShare, Visitor } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { Page, Stack } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { useAct } from "../vault/useAct.ts";
import { LinkFailure } from "./LinkFailure.tsx";
import { LookLoading } from "./LookLoading.tsx";
import { OpenedShareView } from "./OpenedShareView.tsx";
import { OpenForm, type Answers } from "./OpenForm.tsx";
import { PersonShare } from "./PersonShare.tsx";
import { PutAway } from "./PutAway.tsx";
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
  const opened = useOpenedShare();
  const look = useQuery({
    queryKey: ["share", "look", shareId],
    queryFn: ({ signal }) => visitor.lookAtShare(shareId, { signal }),
    staleTime: Infinity,
    gcTime: 0,
    enabled: opened.state.status === "closed",
  });
  if (opened.state.status === "open")
    return (
      <OpenedShareView
        share={opened.state.share}
        report={isPublic ? <ReportLink shareId={shareId} /> : null}
        onPutAway={opened.putAway}
      />
    );
  if (look.data?.audience === "person") return <PersonShare shareId={shareId} offer={look.data} opened={opened} />;
  return (
    <Page title={t("open.title")}>
      {opened.state.status === "put_away" ? (
        <PutAway />
      ) : look.data !== undefined ? (
        <Offered visitor={visitor} shareId={shareId} offer={look.data} isPublic={isPublic} opened={opened} />
      ) : look.isError ? (
        <LinkFailure error={look.error} onRetry={() => void look.refetch()} />
      ) : (
        <LookLoading />
      )}
    </Page>
  );
}

interface OfferedProps extends LinkShareProps {
  readonly offer: OfferedShare;
  readonly opened: OpenedShareAccess;
}

function Offered({ visitor, shareId, offer, isPublic, opened }: OfferedProps) {
  const { state, run, cancel } = useAct();
  const failure = state.status === "failed" ? state.error : null;
  const handleOpen = (answers: Answers) => {
    run(async (options) => {
      opened.keep(await visitor.openShare(shareId, answers, options), options.signal);
    });
  };
  if (isPortalError(failure, "share_unavailable", "link_incomplete")) return <LinkFailure error={failure} />;
  return (
    <Stack $gap={5}>
      <ShareFacts offer={offer} />
      <OpenForm
        keeper={visitor}
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
