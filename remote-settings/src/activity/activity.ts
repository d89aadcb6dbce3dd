import { Activity, type ActivityEntry, type ActivityTopic } from "@relicario/shared/api";
import type { Portal } from "@relicario/shared/contract";
import { infiniteQueryOptions } from "@tanstack/react-query";

/** What happened in the account, newest first, page by page; null: about anything. */
export function activityQuery({ http, user }: Pick<Portal, "http" | "user">, topic: ActivityTopic | null) {
  return infiniteQueryOptions({
    queryKey: ["user", "activity", user.userId, topic] as const,
    queryFn: ({ signal, pageParam }) =>
      http.request("GET", "/user/activity", Activity, {
        signal,
        query: { topic: topic ?? undefined, before: pageParam ?? undefined },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    staleTime: 0,
  });
}

export interface Day {
  /** The local date of its entries, as {@link dateOf} writes it. */
  readonly date: string;
  readonly entries: readonly ActivityEntry[];
}

/** Entries by days, in their order. */
export function byDay(entries: readonly ActivityEntry[], dateOf: (timestamp: string) => string): readonly Day[] {
  const days = new Map<string, ActivityEntry[]>();
  for (const entry of entries) {
    const date = dateOf(entry.at);
    days.set(date, [...(days.get(date) ?? []), entry]);
  }
  return Array.from(days, ([date, ofDay]) => ({ date, entries: ofDay }));
}
