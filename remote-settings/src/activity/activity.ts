import { ActivityResponse, type ActivityEntry, type ActivityTopic } from "@relicario/shared/api";
import type { Portal } from "@relicario/shared/contract";
import { infiniteQueryOptions } from "@tanstack/react-query";

/** What happened in the account, newest first, page by page; null: about anything. */
export function activityQuery({ http, user }: Pick<Portal, "http" | "user">, topic: ActivityTopic | null) {
  return infiniteQueryOptions({
    queryKey: ["user", "activity", user.userId, topic] as const,
    queryFn: ({ signal, pageParam }) =>
      http.request("GET", "/user/activity", ActivityResponse, {
        signal,
        query: { topic: topic ?? undefined, before: pageParam ?? undefined },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    staleTime: 0,
  });
}

export interface DayGroup {
  /** The local date of its entries, as `formatDate` of {@link groupByDay} writes it. */
  readonly date: string;
  readonly entries: readonly ActivityEntry[];
}

/** Entries by days, in their order. */
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
