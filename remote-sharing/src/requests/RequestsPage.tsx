import { usePortal, type RequestRow, type Vault } from "@relicario/shared/contract";
import { Switch } from "@relicario/shared/forms";
import {
  ButtonLink,
  EmptyState,
  ErrorNotice,
  Loading,
  markVerbatim,
  Page,
  Skeleton,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { MessageCircleQuestion, Plus } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { requestsQuery } from "../data/sharing.ts";
import { WithVault } from "../vault/WithVault.tsx";
import { RequestCard } from "./RequestCard.tsx";

/** Route `/asked-for`: this account's requests and their answers. */
export default function RequestsPage() {
  const { t } = useTranslation("beta-share");
  return (
    <Page
      title={t("asked.title")}
      lead={t("asked.lead_body")}
      actions={
        <>
          <ButtonLink to="/ask-for-secret" icon={<Plus aria-hidden />}>
            {t("asked.ask_action")}
          </ButtonLink>
          <ButtonLink to="/recived" tone="quiet">
            {t("received.title")}
          </ButtonLink>
        </>
      }
    >
      <WithVault returnTo="/asked-for">{(vault) => <RequestList vault={vault} />}</WithVault>
    </Page>
  );
}

function RequestList({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("beta-share");
  const { user } = usePortal();
  const [showEnded, setShowEnded] = useState(false);
  const requests = useQuery(requestsQuery(vault, user.userId, showEnded));
  useNotifyNewAnswers(requests.data);
  return (
    <Stack $gap={4}>
      <SpacedRow $justify="between">
        <SmallText role="status">
          {requests.data === undefined ? "" : t("asked.total_status", { count: requests.data.length })}
        </SmallText>
        <Switch label={t("asked.ended_label")} checked={showEnded} onChange={setShowEnded} />
      </SpacedRow>
      {requests.isError && <ErrorNotice error={requests.error} onRetry={() => void requests.refetch()} />}
      {requests.isPending && (
        <Loading label={t("vault.loading_status")}>
          <Skeleton height="160px" />
        </Loading>
      )}
      {requests.data?.length === 0 && (
        <EmptyState
          icon={<MessageCircleQuestion />}
          title={t("asked.empty_title")}
          actions={<ButtonLink to="/ask-for-secret">{t("asked.ask_action")}</ButtonLink>}
        >
          <p>{t("asked.empty_body")}</p>
        </EmptyState>
      )}
      {requests.data !== undefined && requests.data.length > 0 && (
        <Cards aria-label={t("asked.title")}>
          {requests.data.map((request) => (
            <li key={request.requestId}>
              <RequestCard vault={vault} request={request} />
            </li>
          ))}
        </Cards>
      )}
    </Stack>
  );
}

/** Shows a notice once when a refetched list has an answer that the previous list did not have. */
function useNotifyNewAnswers(requests: readonly RequestRow[] | undefined): void {
  const { t } = useTranslation("beta-share");
  const { notify } = usePortal();
  const awaitedIds = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (requests === undefined) return;
    for (const { requestId, state, title } of requests) {
      if (state === "provided" && awaitedIds.current.has(requestId))
        notify({ tone: "success", text: t("asked.came_status", { title: markVerbatim(title) }) });
    }
    awaitedIds.current = new Set(
      requests.filter(({ state }) => state === "awaiting").map(({ requestId }) => requestId),
    );
  }, [requests, notify, t]);
}

const Cards = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
`;
