import type { RequestPreview, Visitor } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import {
  ButtonLink,
  EmptyState,
  ErrorNotice,
  Loading,
  Page,
  Skeleton,
  useErrorMessage,
  useVisitor,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { Link2Off } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useParams } from "react-router-dom";

import { ProvideForm, type AnswerResult } from "./ProvideForm.tsx";
import { Receipt } from "./Receipt.tsx";

/** Route `/request/:requestId`: answers a request, without an account. */
export default function ProvidePage() {
  const { t } = useTranslation("beta-recover-share");
  const { requestId = "" } = useParams();
  const access = useVisitor();
  return (
    <Page title={t("provide.title")}>
      {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
      {access.status === "loading" && <RequestSkeleton />}
      {access.status === "ready" && <RequestView key={requestId} visitor={access.visitor} requestId={requestId} />}
    </Page>
  );
}

interface RequestViewProps {
  readonly visitor: Visitor;
  readonly requestId: string;
}

function RequestView({ visitor, requestId }: RequestViewProps) {
  const [answerResult, setAnswerResult] = useState<AnswerResult | null>(null);
  const previewQuery = useQuery({
    queryKey: ["provide", requestId],
    queryFn: ({ signal }) => visitor.previewRequest(requestId, { signal }),
    retry: false,
    gcTime: 0,
    staleTime: Infinity,
  });
  if (answerResult !== null) return <Receipt {...answerResult} />;
  if (previewQuery.isPending) return <RequestSkeleton />;
  if (previewQuery.isError)
    return <RequestFailure error={toPortalError(previewQuery.error)} onRetry={() => void previewQuery.refetch()} />;
  if (previewQuery.data.receiptWords !== undefined) return <Receipt receiptWords={previewQuery.data.receiptWords} />;
  if (!acceptsAnswer(previewQuery.data)) return <RequestClosed />;
  return <ProvideForm visitor={visitor} requestId={requestId} preview={previewQuery.data} onSent={setAnswerResult} />;
}

/**
 * Whether the request takes an answer. An answer that was started before the request expired may be
 * finished.
 */
function acceptsAnswer({ state, unfinishedAnswer }: RequestPreview): boolean {
  return state === "awaiting" || (state === "expired" && unfinishedAnswer !== null);
}

function RequestFailure({ error, onRetry }: { readonly error: PortalError; readonly onRetry: () => void }) {
  const { t } = useTranslation("beta-recover-share");
  const describeError = useErrorMessage();
  switch (error.code) {
    case "request_unavailable":
      return <RequestClosed />;
    case "link_incomplete":
    case "decryption_failed":
      return (
        <EmptyState
          icon={<Link2Off />}
          title={t(error.code === "link_incomplete" ? "provide.incomplete_title" : "provide.forged_title")}
          actions={<AboutLink />}
        >
          <p>{error.code === "link_incomplete" ? describeError(error) : t("provide.forged_body")}</p>
        </EmptyState>
      );
    default:
      return <ErrorNotice error={error} onRetry={onRetry} />;
  }
}

/** Shown for every reason why a request takes no answer. */
function RequestClosed() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <EmptyState icon={<Link2Off />} title={t("provide.closed_title")} actions={<AboutLink />}>
      <p>{t("provide.closed_body")}</p>
    </EmptyState>
  );
}

function AboutLink() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <ButtonLink to="/secret-landing" tone="quiet">
      {t("provide.about_action")}
    </ButtonLink>
  );
}

function RequestSkeleton() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <Loading label={t("provide.loading_status")}>
      <Skeleton height="280px" />
    </Loading>
  );
}
