import type { ReceivedShare } from "@relicario/shared/contract";

export const openedChoices = ["all", "new", "opened"] as const;
export const cameChoices = ["all", "person", "link"] as const;

/** What of the list is shown. */
export interface InboxView {
  readonly search: string;
  readonly opened: (typeof openedChoices)[number];
  /** Addressed to this account, or by a link for signed-in people. */
  readonly came: (typeof cameChoices)[number];
  /** User id; null for everybody. */
  readonly from: string | null;
}

export const wholeInbox: InboxView = { search: "", opened: "all", came: "all", from: null };

/** How many filters are set; the search is none. */
export function countFilters({ opened, came, from }: InboxView): number {
  return [opened !== "all", came !== "all", from !== null].filter(Boolean).length;
}

export function visibleShares(
  shares: readonly ReceivedShare[],
  { search, opened, came, from }: InboxView,
): readonly ReceivedShare[] {
  const wanted = folded(search.trim());
  return shares.filter(
    (share) =>
      (wanted === "" || folded(share.from.userName).includes(wanted)) &&
      (opened === "all" || (opened === "opened") === (share.openedAt !== null)) &&
      (came === "all" || (came === "person") === (share.audience === "person")) &&
      (from === null || share.from.userId === from),
  );
}

/** Who shared something, each once, by name. */
export function sendersOf(shares: readonly ReceivedShare[]): readonly ReceivedShare["from"][] {
  return [...new Map(shares.map(({ from }) => [from.userId, from])).values()].toSorted((a, b) =>
    a.userName.localeCompare(b.userName),
  );
}

/** Without case and accents. */
function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
