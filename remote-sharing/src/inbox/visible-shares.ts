import type { ReceivedShare } from "@relicario/shared/contract";

export const openedChoices = ["all", "new", "opened"] as const;
export const channelChoices = ["all", "person", "link"] as const;

export interface InboxView {
  readonly search: string;
  readonly opened: (typeof openedChoices)[number];
  /** How it was shared: with this account by name (`person`), or by a link for signed-in people. */
  readonly channel: (typeof channelChoices)[number];
  /** Null for any sender. */
  readonly senderId: string | null;
}

export const defaultInboxView: InboxView = { search: "", opened: "all", channel: "all", senderId: null };

/** Counts the active filters. The search does not count. */
export function countFilters({ opened, channel, senderId }: InboxView): number {
  return [opened !== "all", channel !== "all", senderId !== null].filter(Boolean).length;
}

export function filterShares(
  shares: readonly ReceivedShare[],
  { search, opened, channel, senderId }: InboxView,
): readonly ReceivedShare[] {
  const query = normalizeForSearch(search.trim());
  return shares.filter(
    (share) =>
      (query === "" || normalizeForSearch(share.from.userName).includes(query)) &&
      (opened === "all" || (opened === "opened") === (share.openedAt !== null)) &&
      (channel === "all" || (channel === "person") === (share.audience === "person")) &&
      (senderId === null || share.from.userId === senderId),
  );
}

/** Returns each sender once, sorted by name. */
export function listSenders(shares: readonly ReceivedShare[]): readonly ReceivedShare["from"][] {
  return [...new Map(shares.map(({ from }) => [from.userId, from])).values()].toSorted((a, b) =>
    a.userName.localeCompare(b.userName),
  );
}

function normalizeForSearch(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
