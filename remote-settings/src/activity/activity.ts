import { ActivityResponse, type ActivityEntry, type ActivityTopic } from "@relicario/shared/api";
import type { Portal } from "@relicario/shared/contract";
import { infiniteQueryOptions } from "@tanstack/react-query";

/** The account's activity, in pages, newest first. Null for all topics. */
export function activityQuery({ http, user }: Pick<Portal, "http" | "user">, topic: ActivityTopic | null) {
  return infiniteQueryOptions({
    queryKey: ["user", "activity", user.userId, topic] as const,
    queryFn: ({ signal, pageParam }) =>
      http.request("GET", "/user/activity", ActivityResponse, {
        signal,
        query: { topic: topic ?? undefined, cursor: pageParam ?? undefined },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    staleTime: 0,
  });
}

export interface DayGroup {
  /** Local date, as the function `formatDate` of {@link groupByDay} returns it. */
  readonly date: string;
  readonly entries: readonly ActivityEntry[];
}

/** Groups entries by day, and keeps their order. */
export function groupByDay(
  entries: readonly ActivityEntry[],
  formatDate: (timestamp: string) => string,
): readonly DayGroup[] {
  const days = new Map<string, ActivityEntry[]>();
  for (const entry of entries) {
    const date = formatDate(entry.at);
    days.set(date, [...(days.get(date) ?? []), entry]);
  }
  return Array.from(days, ([date, dayEntries]) => ({ date, entries: dayEntries }));
}
