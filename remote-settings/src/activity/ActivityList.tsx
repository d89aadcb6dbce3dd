import { activityRetentionDays, activityTopics, type ActivityEntry, type ActivityTopic } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { SelectField } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import {
  Button,
  EmptyState,
  ErrorNotice,
  Loading,
  Muted,
  s,
  Skeleton,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useInfiniteQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { activityQuery, groupByDay } from "./activity.ts";
import { useNearViewport } from "./useNearViewport.ts";

/**
 * Shows the account's activity as sentences, grouped by day. Loads the next page near the end of
 * the list, or when its button is pressed.
 */
export function ActivityList() {
  const { t } = useTranslation("settings-activity");
  const portal = usePortal();
  const [topic, setTopic] = useState<ActivityTopic | null>(null);
  const { data, error, isError, isFetchingNextPage, isFetchNextPageError, hasNextPage, fetchNextPage, refetch } =
    useInfiniteQuery(activityQuery(portal, topic));
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  const { date } = getFormats(portal.language);
  const endRef = useNearViewport(
    hasNextPage && !isFetchingNextPage && !isFetchNextPageError,
    () => void fetchNextPage(),
  );

  return (
    <Stack $gap={5}>
      <Muted>{t("page.lead_body", { days: activityRetentionDays })}</Muted>
      <SelectField
        label={t("filter.topic_label")}
        value={topic ?? "all"}
        choices={["all" as const, ...activityTopics].map((value) => ({ value, label: t(`filter.${value}_option`) }))}
        onChange={(value) => {
          setTopic(activityTopics.find((candidate) => candidate === value) ?? null);
        }}
      />
      {data === undefined && !isError && (
        <Loading label={t("page.loading_status")}>
          <Skeleton height="320px" />
        </Loading>
      )}
      {data !== undefined && entries.length === 0 && (
        <EmptyState icon={<History />} title={t("page.empty_title")}>
          <p>{t("page.empty_body")}</p>
        </EmptyState>
      )}
      {groupByDay(entries, date).map((day) => (
        <section key={day.date} aria-labelledby={`day-${day.entries[0]?.id ?? ""}`}>
          <DayTitle id={`day-${day.entries[0]?.id ?? ""}`}>{day.date}</DayTitle>
          <List>
            {day.entries.map((entry) => (
              <EntryRow key={entry.id} entry={entry} />
            ))}
          </List>
        </section>
      ))}
      {isError && (
        <ErrorNotice error={error} onRetry={() => void (isFetchNextPageError ? fetchNextPage() : refetch())} />
      )}
      {hasNextPage && !isFetchNextPageError && (
        <SpacedRow ref={endRef}>
          <Button tone="quiet" pending={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t("page.more_action")}
          </Button>
        </SpacedRow>
      )}
    </Stack>
  );
}

function EntryRow({ entry: { at, kind, count, secret, device, address } }: { readonly entry: ActivityEntry }) {
  const { t } = useTranslation("settings-activity");
  const { time } = getFormats(usePortal().language);
  const details = [
    ...(secret === null ? [] : [t("entry.secret_body", { id: secret })]),
    ...(device === null ? [] : [device]),
    ...(address === null ? [] : [address]),
  ];
  return (
    <Row>
      <time dateTime={at}>{time(at)}</time>
      <div>
        <p>{t(`kind.${kind}_body`, { count })}</p>
        {details.length > 0 && <SmallText>{details.join(" · ")}</SmallText>}
      </div>
    </Row>
  );
}

const DayTitle = styled.h2`
  margin-bottom: ${space(2)};
  font-size: ${s("textLarge")};
`;

const List = styled.ol`
  display: flex;
  flex-direction: column;
`;

const Row = styled.li`
  display: grid;
  grid-template-columns: 4rem minmax(0, 1fr);
  gap: ${space(3)};
  padding: ${space(3)} 0;
  border-top: 1px solid ${s("border")};
  overflow-wrap: anywhere;
  & > time {
    color: ${s("textMuted")};
    font-variant-numeric: tabular-nums;
  }
`;
