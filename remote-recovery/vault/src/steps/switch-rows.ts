import { isPortalError, PortalError } from "@relicario/shared/errors";

import { refuseCancelled } from "../cancelled.ts";
import type { RootRow } from "../seal/state.ts";
import { withEnded } from "../shares/shares-document.ts";
import type { Shares } from "../seal/shares.ts";
import type { AccountRow, ActOptions, VaultContext } from "../vault-context.ts";
import { conflictTries, jitter, requireOpened, type SignedChange } from "./publish.ts";
import { readAccount, type AccountView } from "./read-account.ts";
import { requireCheckedOpeners, type OpenedKeyring } from "./read-keyring.ts";
import { sealSecretAnew, type SealingAnew } from "./seal-anew.ts";
import { nextChange, type Besides } from "./signed-change.ts";
import { compareStage, digestOfStage, newStage, stageSender, type Stage } from "./stage-rows.ts";
import { isAnswerLost, sendUntilAnswered } from "./until-answered.ts";

/** What a switch does, made anew from the account as it is at each try. */
export interface Switch {
  readonly how: SealingAnew;
  /**
   * What goes into the change beside the rows. @param shares the document, with the end of those
   * whose contents are sealed anew; null where none ends
   */
  readonly besides: (shares: Shares | null) => Promise<Besides>;
  /**
   * Reads what was switched to. @throws PortalError `publication_not_seen` when the account does
   * not show it.
   */
  readonly confirm: (change: SignedChange) => Promise<void>;
}

/**
 * [Note: A switch of rows]
 *
 * 1. Keyring and list are read and checked. Every row is sealed anew from what was read, and
 *    staged: it shows nowhere.
 * 2. What the service has staged is compared, digest by digest, with what was sent. What is missing
 *    or another is staged again.
 * 3. One keyring change, signed by the key that the account has, names the digest of what was sent.
 *    All of it or nothing is switched to. What was sealed from something that changed meanwhile is
 *    refused, and done anew.
 * 4. It is believed once the account was read again.
 *
 * Nothing that only this device has is needed before 3, so an interruption leaves nothing to go on
 * with: the next call begins another stage.
 *
 * @throws PortalError `list_mismatch` for a service that does not keep what it is given,
 *   `state_conflict`, `cancelled` (up to the moment of sending), `publication_not_seen`, and those
 *   of reading and of the plan. Nothing is changed then, but after the last.
 */
export async function switchRows(
  vault: VaultContext,
  plan: (account: AccountView, opened: OpenedKeyring) => Promise<Switch>,
  options: ActOptions,
): Promise<void> {
  let work = begin(vault);
  let sent: Sent | null = null;
  for (let tries = 1; sent === null; tries++) {
    refuseCancelled(options.signal);
    const account = await readAccount(vault, options.signal);
    const opened = requireOpened(account);
    if (account === null || opened === null) throw new PortalError("no_keyring");
    await requireCheckedOpeners(vault, opened);
    const { how, besides, confirm } = await plan(account, opened);
    if ([...work.stage.secrets.keys()].some((id) => !account.rows.has(id))) work = begin(vault);
    try {
      const sealed = await sealAll(vault, account, opened, how, work, options);
      const there = await compareStage(vault, work.stage, options.signal);
      if (there !== "whole") {
        if (there === "strange") work = begin(vault);
        throw new PortalError("list_mismatch");
      }
      const shares = withEnded(
        opened.shares,
        vault.now(),
        ({ secret_id: id, version }) => sealed.get(id)?.contents.includes(version) === true,
      );
      const stage = { id: work.stage.id, sha256: digestOfStage(work.stage) };
      const change = await nextChange(
        vault,
        account,
        opened,
        [...sealed.values()].map(({ root }) => root),
        { ...(await besides(shares)), stage },
      );
      refuseCancelled(options.signal); // the last moment: what is sent may be published
      sent = { change, confirm, lost: await send(vault, change, options) };
    } catch (error) {
      const isStale = isPortalError(error, "conflict", "version_conflict", "not_found", "content_gone");
      if (isStale) work = begin(vault);
      if (!isStale && !isPortalError(error, "state_conflict", "list_mismatch")) throw error;
      if (tries >= conflictTries) throw isStale ? new PortalError("state_conflict", { cause: error }) : error;
      await vault.pause(jitter(tries), options.signal);
    }
  }
  try {
    await sent.confirm(sent.change);
  } catch (error) {
    throw sent.lost !== null && isPortalError(error, "publication_not_seen") ? sent.lost : error;
  }
  options.onProgress?.({ phase: "sending", done: 1, total: 1 });
}

interface Sent extends Pick<Switch, "confirm"> {
  readonly change: SignedChange;
  /** The error that stands for its answer; null when it was answered. */
  readonly lost: PortalError | null;
}

interface Sealed {
  readonly root: RootRow;
  readonly contents: readonly number[];
}

/** A stage, and what this worker knows of the rows in it. */
interface Work {
  readonly stage: Stage;
  readonly sealed: Map<string, Sealed>;
}

function begin(vault: VaultContext): Work {
  return { stage: newStage(vault), sealed: new Map() };
}

/** Seals and stages what was not staged from the same row before. */
async function sealAll(
  vault: VaultContext,
  account: AccountView,
  opened: OpenedKeyring,
  how: SealingAnew,
  { stage, sealed }: Work,
  options: ActOptions,
): Promise<ReadonlyMap<string, Sealed>> {
  const sender = stageSender(vault, stage, options);
  const rows = [...account.rows.values()];
  for (const [index, row] of rows.entries()) {
    refuseCancelled(options.signal);
    options.onProgress?.({ phase: "sealing", done: index, total: rows.length });
    const from = sourceOf(row, opened);
    if (stage.secrets.get(row.secretId)?.from === from) continue;
    const anew = await sealSecretAnew(vault, opened, row, how, options.signal);
    sealed.set(row.secretId, { root: anew.root, contents: anew.contents });
    await sender.add(from, anew.rows);
  }
  if (stage.secrets.size < rows.length || rows.length === 0) await sender.flush();
  options.onProgress?.({ phase: "sealing", done: rows.length, total: rows.length });
  return sealed;
}

/** Label, and the openers that there are: another device may have added one. */
function sourceOf({ version, labelHex }: AccountRow, { state }: OpenedKeyring): string {
  return `${String(version)} ${labelHex} ${state.book_sha256}`;
}

/** Null when it was answered, the error when the answer was lost: the account tells then. */
async function send(vault: VaultContext, { keyring }: SignedChange, options: ActOptions): Promise<PortalError | null> {
  options.onProgress?.({ phase: "sending", done: 0, total: 1 });
  try {
    await sendUntilAnswered(vault.pause, () => vault.service.changeKeyring(keyring));
    return null;
  } catch (error) {
    if (isPortalError(error) && isAnswerLost(error)) return error;
    throw error;
  }
}
