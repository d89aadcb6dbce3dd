import type { ReceivedShare } from "@relicario/shared/contract";

export const openedChoices = ["all", "new", "opened"] as const;
export const channelChoices = ["all", "person", "link"] as const;

/** What of the list is shown. */
export interface InboxView {
  readonly search: string;
  readonly opened: (typeof openedChoices)[number];
  /** Addressed to this account, or by a link for signed-in people. */
  readonly channel: (typeof channelChoices)[number];
  /** User id; null for everybody. */
  readonly from: string | null;
}

export const defaultInboxView: InboxView = { search: "", opened: "all", channel: "all", from: null };

/** How many filters are set; the search is none. */
export function countFilters({ opened, channel, from }: InboxView): number {
  return [opened !== "all", channel !== "all", from !== null].filter(Boolean).length;
}

export function filterShares(
  shares: readonly ReceivedShare[],
  { search, opened, channel, from }: InboxView,
): readonly ReceivedShare[] {
  const query = normalizeForSearch(search.trim());
  return shares.filter(
    (share) =>
      (query === "" || normalizeForSearch(share.from.userName).includes(query)) &&
      (opened === "all" || (opened === "opened") === (share.openedAt !== null)) &&
      (channel === "all" || (channel === "person") === (share.audience === "person")) &&
      (from === null || share.from.userId === from),
  );
}

/** Who shared something, each once, by name. */
export function listSenders(shares: readonly ReceivedShare[]): readonly ReceivedShare["from"][] {
  return [...new Map(shares.map(({ from }) => [from.userId, from])).values()].toSorted((a, b) =>
    a.userName.localeCompare(b.userName),
  );
}

/** Without case and accents. */
function normalizeForSearch(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
