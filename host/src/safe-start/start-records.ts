import type { RemoteName } from "@relicario/shared/contract";
import { z } from "zod";

/**
 * [Note: Safe start] A remote can make the page unusable for as long as it is loaded: an endless
 * loop, an emptied body, a replaced prototype. Nothing in one realm prevents that. So:
 *
 * 1. Before code of a remote is loaded, the page stores an unsettled start with the remote's name,
 *    in an item of its own, and renews its time every second while it works.
 * 2. The page settles once no code was loading for three seconds and the page works. It then
 *    removes its item, and those of earlier starts: they are no longer in a row. A page that is
 *    hidden or left while it works, or before it could show anything, removes only its own item.
 * 3. At the next start, an item of the same tab, or one that was not renewed for eight seconds, is
 *    a start that failed. The tab was closed, its process ended, or it still hangs. Other items
 *    belong to tabs that are starting.
 * 4. After two failed starts the page offers to start without the remotes that both had loaded last
 *    (SafeStartOffer.tsx), before it loads code of any remote. The last ones are those whose code
 *    had not loaded, or after which the page no longer worked; without such a remote, all.
 *
 * Where the browser refuses storage, no start is known, and nothing is offered.
 */
const StartRecord = z.object({
  /** Random id of the tab, which survives reloads. */
  tab: z.string(),
  /** Milliseconds since 1970. */
  renewed_at: z.number(),
  remotes: z.array(z.string()),
});
type StartRecord = z.infer<typeof StartRecord>;

const itemPrefix = "unsettledStart.";
const tabKey = "startTab";
const renewIntervalMs = 1_000;
const settleMs = 3_000;
const failedAfterMs = 8_000;
/** Older items say nothing about the releases of today. */
const maxAgeMs = 24 * 60 * 60_000;

export interface StartRecordsDeps {
  readonly local: Storage;
  readonly session: Storage;
  readonly window: Pick<Window, "addEventListener" | "clearInterval"> & {
    readonly setInterval: (handler: () => void, delay: number) => number;
    readonly document: Pick<Document, "visibilityState">;
  };
  readonly now: () => number;
  readonly createId: () => string;
  readonly getPageState: () => PageState;
}

/** `broken`: people cannot use the page any more. */
export type PageState = "not_shown_yet" | "shown" | "broken";

export interface StartRecords {
  /** Remotes that the last two starts had loaded last, if both failed; otherwise none. */
  readonly suspects: readonly RemoteName[];
  /** Call it once the person has decided about the suspects. */
  readonly forgetFailedStarts: () => void;
  /** Call it before code of a remote is loaded. Returns a function to call once it was. */
  readonly recordLoad: (remote: RemoteName) => () => void;
}

export function createStartRecords(deps: StartRecordsDeps): StartRecords {
  const { local, session, window, now, createId, getPageState } = deps;
  const tab = session.getItem(tabKey) ?? createId();
  trySetItem(session, tabKey, tab);
  const ownKey = itemPrefix + createId();
  const failedStarts = findFailedStarts(local, tab, now());

  const remotes = new Set<RemoteName>();
  const loadedWell = new Set<RemoteName>();
  let pendingLoads = 0;
  let startedAt = 0;
  let idleSince = 0;
  let timer: number | null = null;

  const renew = () => {
    const unsettled = [...remotes].filter((remote) => !loadedWell.has(remote));
    const record: StartRecord = {
      tab,
      renewed_at: now(),
      remotes: unsettled.length > 0 ? unsettled : [...remotes],
    };
    trySetItem(local, ownKey, JSON.stringify(record));
  };
  const removeOwn = () => {
    if (timer !== null) window.clearInterval(timer);
    timer = null;
    remotes.clear();
    loadedWell.clear();
    local.removeItem(ownKey);
  };
  const isYoung = () => now() - startedAt < settleMs;
  const forgetFailedStarts = () => {
    for (const { key } of failedStarts) local.removeItem(key);
  };
  const check = () => {
    const state = getPageState();
    if (state === "shown" && pendingLoads === 0 && now() - idleSince >= settleMs) {
      removeOwn();
      forgetFailedStarts();
    } else if (state === "shown" || (state === "not_shown_yet" && isYoung())) renew();
  };
  const handleLeave = () => {
    const state = getPageState();
    if (timer !== null && (state === "shown" || (state === "not_shown_yet" && isYoung()))) removeOwn();
  };
  window.addEventListener("pagehide", handleLeave);
  window.addEventListener("visibilitychange", () => {
    if (window.document.visibilityState === "hidden") handleLeave();
  });

  return {
    suspects: findSuspects(failedStarts.map(({ record }) => record)),
    forgetFailedStarts,
    recordLoad: (remote) => {
      if (timer === null) startedAt = now();
      remotes.add(remote);
      loadedWell.delete(remote);
      pendingLoads += 1;
      renew();
      timer ??= window.setInterval(check, renewIntervalMs);
      return () => {
        pendingLoads -= 1;
        idleSince = now();
        if (getPageState() === "broken") return;
        loadedWell.add(remote);
        if (timer !== null) renew();
      };
    },
  };
}

interface FailedStart {
  readonly key: string;
  readonly record: StartRecord;
}

/** In the order of their times. Removes items that are too old or unreadable. */
function findFailedStarts(local: Storage, tab: string, now: number): readonly FailedStart[] {
  const keys = Array.from({ length: local.length }, (_, index) => local.key(index)).filter(
    (key) => key?.startsWith(itemPrefix) === true,
  );
  return keys
    .flatMap((key): FailedStart[] => {
      if (key === null) return [];
      const record = parseRecord(local.getItem(key));
      if (record !== null && Math.abs(now - record.renewed_at) < maxAgeMs) return [{ key, record }];
      local.removeItem(key);
      return [];
    })
    .filter(({ record }) => record.tab === tab || Math.abs(now - record.renewed_at) > failedAfterMs)
    .toSorted((a, b) => a.record.renewed_at - b.record.renewed_at);
}

function parseRecord(text: string | null): StartRecord | null {
  try {
    return StartRecord.parse(JSON.parse(text ?? ""));
  } catch {
    return null; // written by another version
  }
}

/** Those of both last starts; if they have none in common, those of the last one. */
function findSuspects(failedStarts: readonly StartRecord[]): readonly RemoteName[] {
  const [previous, last] = failedStarts.slice(-2);
  if (previous === undefined || last === undefined) return [];
  const common = last.remotes.filter((remote) => previous.remotes.includes(remote));
  return common.length > 0 ? common : last.remotes;
}

function trySetItem(storage: Storage, key: string, value: string): void {
  try {
    storage.setItem(key, value);
  } catch {
    // The storage is full: this start is not recorded.
  }
}
