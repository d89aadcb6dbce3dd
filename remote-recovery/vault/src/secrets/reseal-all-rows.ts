import { isPortalError, PortalError } from "@relicario/shared/errors";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { RootRow } from "../seal/state.ts";
import { withSharesEnded } from "../keyring/shares-document.ts";
import type { Shares } from "../seal/shares.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { maxConflictTries, jitteredDelay, requireOpenedKeyring } from "../keyring/publish.ts";
import type { SignedChange, OpenedKeyring } from "../session/keyring-views.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { requireVerifiedOpeners } from "../keyring/verified-openers.ts";
import { resealSecret, type ResealParams } from "./reseal-secret.ts";
import { buildNextChange, type ChangeParts } from "../keyring/build-keyring-change.ts";
import { compareStage, digestOfStage, createStage, createStageSender, type Stage } from "./stage-rows.ts";
import { isResponseLost, sendWithRetry } from "../service/send-with-retry.ts";

/** What a switch does, made anew from the account as it is at each try. */
export interface ResealPlan {
  readonly params: ResealParams;
  /**
   * What goes into the change beside the rows. @param shares the document, with the end of those
   * whose contents are sealed anew; null where none ends
   */
  readonly buildChangeParts: (shares: Shares | null) => Promise<ChangeParts>;
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
export async function resealAllRows(
  vault: VaultSession,
  createPlan: (account: AccountView, openedKeyring: OpenedKeyring) => Promise<ResealPlan>,
  options: OperationOptions,
): Promise<void> {
  let progress = startStage(vault);
  let sent: SentChange | null = null;
  for (let tries = 1; sent === null; tries++) {
    throwIfCancelled(options.signal);
    const account = await readAccount(vault, options.signal);
    const openedKeyring = requireOpenedKeyring(account);
    if (account === null || openedKeyring === null) throw new PortalError("no_keyring");
    await requireVerifiedOpeners(vault, openedKeyring);
    const { params, buildChangeParts, confirm } = await createPlan(account, openedKeyring);
    if ([...progress.stage.secrets.keys()].some((id) => !account.rows.has(id))) progress = startStage(vault);
    try {
      const resealedRows = await resealRows(vault, account, openedKeyring, params, progress, options);
      const comparison = await compareStage(vault, progress.stage, options.signal);
      if (comparison !== "complete") {
        if (comparison === "unknown") progress = startStage(vault);
        throw new PortalError("list_mismatch");
      }
      const shares = withSharesEnded(
        openedKeyring.shares,
        vault.now(),
        ({ secret_id: id, version }) => resealedRows.get(id)?.rekeyedVersions.includes(version) === true,
      );
      const stage = { id: progress.stage.id, sha256: digestOfStage(progress.stage) };
      const change = await buildNextChange(
        vault,
        account,
        openedKeyring,
        [...resealedRows.values()].map(({ root }) => root),
        { ...(await buildChangeParts(shares)), stage },
      );
      throwIfCancelled(options.signal); // the last moment: what is sent may be published
      sent = { change, confirm, lostResponse: await send(vault, change, options) };
    } catch (error) {
      const isStale = isPortalError(error, "conflict", "version_conflict", "not_found", "content_gone");
      if (isStale) progress = startStage(vault);
      if (!isStale && !isPortalError(error, "state_conflict", "list_mismatch")) throw error;
      if (tries >= maxConflictTries) throw isStale ? new PortalError("state_conflict", { cause: error }) : error;
      await vault.pause(jitteredDelay(tries), options.signal);
    }
  }
  try {
    await sent.confirm(sent.change);
  } catch (error) {
    throw sent.lostResponse !== null && isPortalError(error, "publication_not_seen") ? sent.lostResponse : error;
  }
  options.onProgress?.({ phase: "sending", done: 1, total: 1 });
}

interface SentChange extends Pick<ResealPlan, "confirm"> {
  readonly change: SignedChange;
  /** The error that stands for its answer; null when it was answered. */
  readonly lostResponse: PortalError | null;
}

interface ResealedRow {
  readonly root: RootRow;
  readonly rekeyedVersions: readonly number[];
}

/** A stage, and what this worker knows of the rows in it. */
interface StageProgress {
  readonly stage: Stage;
  readonly resealedRows: Map<string, ResealedRow>;
}

function startStage(vault: VaultSession): StageProgress {
  return { stage: createStage(vault), resealedRows: new Map() };
}

/** Seals and stages what was not staged from the same row before. */
async function resealRows(
  vault: VaultSession,
  account: AccountView,
  openedKeyring: OpenedKeyring,
  params: ResealParams,
  { stage, resealedRows }: StageProgress,
  options: OperationOptions,
): Promise<ReadonlyMap<string, ResealedRow>> {
  const sender = createStageSender(vault, stage, options);
  const rows = [...account.rows.values()];
  for (const [index, row] of rows.entries()) {
    throwIfCancelled(options.signal);
    options.onProgress?.({ phase: "sealing", done: index, total: rows.length });
    const source = sourceFingerprint(row, openedKeyring);
    if (stage.secrets.get(row.secretId)?.source === source) continue;
    const secretRows = await resealSecret(vault, openedKeyring, row, params, options.signal);
    resealedRows.set(row.secretId, { root: secretRows.root, rekeyedVersions: secretRows.rekeyedVersions });
    await sender.add(source, secretRows.rows);
  }
  if (stage.secrets.size < rows.length || rows.length === 0) await sender.flush();
  options.onProgress?.({ phase: "sealing", done: rows.length, total: rows.length });
  return resealedRows;
}

/** Label, and the openers that there are: another device may have added one. */
function sourceFingerprint({ version, labelHex }: AccountRow, { state }: OpenedKeyring): string {
  return `${String(version)} ${labelHex} ${state.book_sha256}`;
}

/** Null when it was answered, the error when the answer was lost: the account tells then. */
async function send(
  vault: VaultSession,
  { keyring }: SignedChange,
  options: OperationOptions,
): Promise<PortalError | null> {
  options.onProgress?.({ phase: "sending", done: 0, total: 1 });
  try {
    await sendWithRetry(vault.pause, () => vault.service.changeKeyring(keyring));
    return null;
  } catch (error) {
    if (isPortalError(error) && isResponseLost(error)) return error;
    throw error;
  }
}
