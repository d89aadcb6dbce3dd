import type { OfferedRequest, Visitor } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import {
  ButtonLink,
  EmptyState,
  ErrorNotice,
  Loading,
  Page,
  Skeleton,
  useErrorSentence,
  useVisitor,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { Link2Off } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useParams } from "react-router-dom";

import { ProvideForm, type Taken } from "./ProvideForm.tsx";
import { Receipt } from "./Receipt.tsx";

/** Route `/request/:requestId`: answers somebody who asked for a secret. It needs no account. */
export default function ProvidePage() {
  const { t } = useTranslation("beta-recover-share");
  const { requestId = "" } = useParams();
  const access = useVisitor();
  return (
    <Page title={t("provide.title")}>
      {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
      {access.status === "loading" && <Waiting />}
      {access.status === "ready" && <Offered key={requestId} visitor={access.visitor} requestId={requestId} />}
    </Page>
  );
}

interface OfferedProps {
  readonly visitor: Visitor;
  readonly requestId: string;
}

function Offered({ visitor, requestId }: OfferedProps) {
  const [sent, setSent] = useState<Taken | null>(null);
  const offer = useQuery({
    queryKey: ["provide", requestId],
    queryFn: ({ signal }) => visitor.lookAtRequest(requestId, { signal }),
    retry: false,
    gcTime: 0,
    staleTime: Infinity,
  });
  if (sent !== null) return <Receipt {...sent} />;
  if (offer.isPending) return <Waiting />;
  if (offer.isError) return <Refused error={toPortalError(offer.error)} onRetry={() => void offer.refetch()} />;
  if (offer.data.receipt !== undefined) return <Receipt words={offer.data.receipt} />;
  if (!isOpen(offer.data)) return <Closed />;
  return <ProvideForm visitor={visitor} requestId={requestId} offer={offer.data} onSent={setSent} />;
}

/** Whether it takes an answer: one that was begun before its end may finish. */
function isOpen({ state, begun }: OfferedRequest): boolean {
  return state === "awaiting" || (state === "expired" && begun !== null);
}

function Refused({ error, onRetry }: { readonly error: PortalError; readonly onRetry: () => void }) {
  const { t } = useTranslation("beta-recover-share");
  const sentence = useErrorSentence();
  switch (error.code) {
    case "request_unavailable":
      return <Closed />;
    case "link_incomplete":
    case "decryption_failed":
      return (
        <EmptyState
          icon={<Link2Off />}
          title={t(error.code === "link_incomplete" ? "provide.incomplete_title" : "provide.forged_title")}
          actions={<AboutLink />}
        >
          <p>{error.code === "link_incomplete" ? sentence(error) : t("provide.forged_body")}</p>
        </EmptyState>
      );
    default:
      return <ErrorNotice error={error} onRetry={onRetry} />;
  }
}

/** One page for all that cannot be answered: the possible reasons together. */
function Closed() {
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

function Waiting() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <Loading label={t("provide.loading_status")}>
      <Skeleton height="280px" />
    </Loading>
  );
}
