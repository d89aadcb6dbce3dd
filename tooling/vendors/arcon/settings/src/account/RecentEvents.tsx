import { ActivityResponse } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { Button, Card, ErrorNotice, Loading, Skeleton, Stack } from "@relicario/shared/ui";
import { useInfiniteQuery } from "@tanstack/react-query";
import { motion, useReducedMotion } from "framer-motion";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

/** How many are fetched at once. */
const pageSize = 3;

/** What happened in the account, newest first, a few at a time. */
export function RecentEvents() {
  const { t } = useTranslation("settings");
  const { http, language } = usePortal();
  const reducedMotion = useReducedMotion() === true;
  const events = useInfiniteQuery({
    queryKey: ["arcon", "events"],
    queryFn: ({ signal, pageParam }) =>
      http.request("GET", "/user/activity", ActivityResponse, {
        signal,
        query: { limit: pageSize, cursor: pageParam ?? undefined },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
  });
  const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const describeEvent = (kind: string): string =>
    kind === "signed_in" || kind === "profile_changed" ? t(`event.${kind}_body`) : t("event.other_body");

  return (
    <Card as="section" aria-labelledby="events">
      <Stack $gap={4}>
        <h2 id="events">{t("event.title")}</h2>
        {events.isError && <ErrorNotice error={events.error} onRetry={() => void events.refetch()} />}
        {events.isPending && (
          <Loading label={t("event.loading_status")}>
            <Skeleton height="80px" />
          </Loading>
        )}
        <Events aria-labelledby="events">
          {events.data?.pages
            .flatMap(({ entries }) => entries)
            .map(({ id, at, kind }) => (
              <Event
                key={id}
                initial={reducedMotion ? false : { opacity: 0, x: -8 }}
                animate={{ opacity: 1, x: 0 }}
                transition={{ duration: 0.2 }}
              >
                <time dateTime={at}>{time.format(new Date(at))}</time> {describeEvent(kind)}
              </Event>
            ))}
        </Events>
        {events.hasNextPage && (
          <div>
            <Button tone="quiet" pending={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
              {t("event.more_action")}
            </Button>
          </div>
        )}
      </Stack>
    </Card>
  );
}

const Events = styled.ul`
  margin: 0;
  padding: 0;
  list-style: none;
`;

/** The line has the colour of the page's theme. */
const Event = styled(motion.li)`
  padding: 6px 12px;
  border-inline-start: 3px solid ${({ theme }) => (theme as { readonly line?: string }).line ?? "transparent"};
`;
