import { usePortal, type Vault } from "@relicario/shared/contract";
import { ListToolbar, Switch } from "@relicario/shared/forms";
import {
  ButtonLink,
  EmptyState,
  ErrorNotice,
  Loading,
  markVerbatim,
  Page,
  renderVerbatim,
  Skeleton,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Inbox, MessageCircleQuestion, Search, Users } from "lucide-react";
import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { receivedQuery } from "../data/received.ts";
import { WithVault } from "../vault/WithVault.tsx";
import { InboxFilter } from "./InboxFilter.tsx";
import { ReceivedCard } from "./ReceivedCard.tsx";
import { countFilters, listSenders, filterShares, defaultInboxView } from "./visible-shares.ts";

/** Route `/recived` ("Shared with me"). The specification spells the path so. */
export default function ReceivedPage() {
  const { t } = useTranslation("beta-share");
  const { features } = usePortal();
  return (
    <Page
      width="wide"
      title={t("received.title")}
      lead={t("received.lead_body")}
      actions={
        <>
          {features["requests"] !== false && (
            <ButtonLink to="/asked-for" tone="quiet" icon={<MessageCircleQuestion aria-hidden />}>
              {t("asked.title")}
            </ButtonLink>
          )}
          <ButtonLink to="/people" tone="quiet" icon={<Users aria-hidden />}>
            {t("received.people_action")}
          </ButtonLink>
        </>
      }
    >
      <WithVault returnTo="/recived">{(vault) => <ReceivedList vault={vault} />}</WithVault>
    </Page>
  );
}

function ReceivedList({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("beta-share");
  const { user } = usePortal();
  const [view, setView] = useState(defaultInboxView);
  const [showEnded, setShowEnded] = useState(false);
  const [filterOpen, setFilterOpen] = useState(false);
  const panelId = useId();
  const list = useQuery({ ...receivedQuery(vault, user.userId, showEnded), placeholderData: keepPreviousData });

  if (list.data === undefined) {
    return list.isError ? (
      <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
    ) : (
      <Loading label={t("received.loading_status")}>
        <Stack $gap={3}>
          {[0, 1, 2].map((index) => (
            <Skeleton key={index} height="112px" />
          ))}
        </Stack>
      </Loading>
    );
  }
  const shares = list.data;
  const visible = filterShares(shares, view);
  const filterCount = countFilters(view);
  const isFiltered = filterCount > 0 || view.search.trim() !== "";
  return (
    <Stack $gap={4}>
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      <ListToolbar
        tourTargetPrefix="received"
        searchLabel={t("received.search_label")}
        search={view.search}
        onSearch={(search) => {
          setView({ ...view, search });
        }}
        filterLabel={
          filterCount === 0 ? t("received.filter_action") : t("received.filter_some_action", { number: filterCount })
        }
        filterOpen={filterOpen}
        panelId={panelId}
        onFilterOpenChange={setFilterOpen}
      />
      {filterOpen && <InboxFilter id={panelId} view={view} senders={listSenders(shares)} onChange={setView} />}
      <SpacedRow $justify="between">
        <SmallText role="status" data-tour="received-total">
          {isFiltered
            ? t("received.found_status", { count: visible.length, total: shares.length })
            : t("received.total_status", { count: shares.length })}
        </SmallText>
        <Switch label={t("received.ended_label")} checked={showEnded} onChange={setShowEnded} />
      </SpacedRow>
      {visible.length > 0 ? (
        <Rows aria-label={t("received.title")}>
          {visible.map((share) => (
            <li key={share.shareId}>
              <ReceivedCard share={share} />
            </li>
          ))}
        </Rows>
      ) : isFiltered && shares.length > 0 ? (
        <EmptyState icon={<Search />} title={t("received.none_found_title")}>
          <p>{t("received.none_found_body")}</p>
        </EmptyState>
      ) : (
        <EmptyState
          icon={<Inbox />}
          title={t("received.empty_title")}
          actions={<ButtonLink to="/people">{t("received.own_words_action")}</ButtonLink>}
        >
          <p>{renderVerbatim(t("received.empty_body", { name: markVerbatim(user.userName) }))}</p>
        </EmptyState>
      )}
    </Stack>
  );
}

const Rows = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  & > li {
    content-visibility: auto;
    contain-intrinsic-size: auto 120px;
  }
`;
