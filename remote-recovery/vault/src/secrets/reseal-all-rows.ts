import { isPortalError, PortalError } from "@relicario/shared/errors";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { RootRow } from "../seal/state.ts";
import { markSharesEnded } from "../keyring/shares-document.ts";
import type { Shares } from "../seal/shares.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { maxConflictTries, jitteredDelay, requireOpenedKeyring } from "../keyring/publish.ts";
import type { SignedChange, OpenedKeyring } from "../session/keyring-views.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { requireVerifiedInner } from "../keyring/verified-inner.ts";
import { resealSecret, type ResealParams } from "./reseal-secret.ts";
import { buildNextChange, type ChangeParts } from "../keyring/build-keyring-change.ts";
import { compareStage, computeStageDigest, createStage, createStageSender, type Stage } from "./stage-rows.ts";
import { isResponseLost, sendWithRetry } from "../service/send-with-retry.ts";

/** What to reseal and publish; planned again from the current account at each attempt. */
export interface ResealPlan {
  readonly params: ResealParams;
  /**
   * Creates the parts of the change besides the rows.
   *
   * @param shares the document, in which shares of rekeyed contents are ended; null if none ends
   */
  readonly buildChangeParts: (shares: Shares | null) => Promise<ChangeParts>;
  /** Reads the account again. @throws PortalError `publication_not_seen` */
  readonly confirm: (change: SignedChange) => Promise<void>;
}

/**
 * [Note: Switching all rows]
 *
 * 1. The account is read and verified. Every row is resealed and staged, not yet visible.
 * 2. The digests of the staged rows are fetched and compared with what was sent. Missing or
 *    different rows are staged again.
 * 3. One keyring change, signed by the current key, contains the digest of what was sent. The
 *    service switches to all rows or to none. It refuses rows whose source has changed; they are
 *    resealed again.
 * 4. The result is trusted only after the account has been read again.
 *
 * Before step 3 this device has nothing to preserve: after an interruption, the next call starts a
 * new stage.
 *
 * @throws PortalError `list_mismatch` if the service does not keep what it was sent,
 *   `state_conflict`, `cancelled` (before sending), `publication_not_seen`, and errors of reading
 *   and planning. After `publication_not_seen` the switch may have happened, after other errors it
 *   has not.
 */
export async function resealAllRows(
  vault: VaultSession,
  createPlan: (account: AccountView, openedKeyring: OpenedKeyring) => Promise<ResealPlan>,
  options: OperationOptions,
): Promise<void> {
  let stageProgress = startStage(vault);
  let sentChange: SentChange | null = null;
  for (let tries = 1; sentChange === null; tries++) {
    throwIfCancelled(options.signal);
    const account = await readAccount(vault, options.signal);
    const openedKeyring = requireOpenedKeyring(account);
    if (account === null || openedKeyring === null) throw new PortalError("no_keyring");
    await requireVerifiedInner(vault, openedKeyring);
    const { params, buildChangeParts, confirm } = await createPlan(account, openedKeyring);
    if ([...stageProgress.stage.secrets.keys()].some((id) => !account.rows.has(id))) stageProgress = startStage(vault);
    try {
      const resealedRows = await resealRows(vault, account, openedKeyring, params, stageProgress, options);
      const comparison = await compareStage(vault, stageProgress.stage, options.signal);
      if (comparison !== "complete") {
        if (comparison === "unknown") stageProgress = startStage(vault);
        throw new PortalError("list_mismatch");
      }
      const shares = markSharesEnded(
        openedKeyring.shares,
        vault.now(),
        ({ secret_id: id, version }) => resealedRows.get(id)?.rekeyedVersions.includes(version) === true,
      );
      const stage = { id: stageProgress.stage.id, sha256: computeStageDigest(stageProgress.stage) };
      const change = await buildNextChange(
        vault,
        account,
        openedKeyring,
        [...resealedRows.values()].map(({ root }) => root),
        { ...(await buildChangeParts(shares)), stage },
      );
      throwIfCancelled(options.signal); // last chance to cancel: once sent, the change may be published
      sentChange = { change, confirm, lostResponse: await send(vault, change, options) };
    } catch (error) {
      const isStale = isPortalError(error, "conflict", "version_conflict", "not_found", "content_gone");
      if (isStale) stageProgress = startStage(vault);
      if (!isStale && !isPortalError(error, "state_conflict", "list_mismatch")) throw error;
      if (tries >= maxConflictTries) throw isStale ? new PortalError("state_conflict", { cause: error }) : error;
      await vault.pause(jitteredDelay(tries), options.signal);
    }
  }
  try {
    await sentChange.confirm(sentChange.change);
  } catch (error) {
    throw sentChange.lostResponse !== null && isPortalError(error, "publication_not_seen")
      ? sentChange.lostResponse
      : error;
  }
  options.onProgress?.({ phase: "sending", done: 1, total: 1 });
}

interface SentChange extends Pick<ResealPlan, "confirm"> {
  readonly change: SignedChange;
  /** The error of a lost response; null if the service responded. */
  readonly lostResponse: PortalError | null;
}

interface ResealedRow {
  readonly root: RootRow;
  readonly rekeyedVersions: readonly number[];
}

interface StageProgress {
  readonly stage: Stage;
  readonly resealedRows: Map<string, ResealedRow>;
}

function startStage(vault: VaultSession): StageProgress {
  return { stage: createStage(vault), resealedRows: new Map() };
}

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
    const source = computeSourceFingerprint(row, openedKeyring);
    if (stage.secrets.get(row.secretId)?.sourceFingerprint === source) continue;
    const secretRows = await resealSecret(vault, openedKeyring, row, params, options.signal);
    resealedRows.set(row.secretId, { root: secretRows.root, rekeyedVersions: secretRows.rekeyedVersions });
    await sender.add(source, secretRows.rows);
  }
  if (stage.secrets.size < rows.length || rows.length === 0) await sender.flush();
  options.onProgress?.({ phase: "sealing", done: rows.length, total: rows.length });
  return resealedRows;
}

/** Covers label and book, because another device may have changed either. */
function computeSourceFingerprint({ version, labelHex }: AccountRow, { state }: OpenedKeyring): string {
  return `${String(version)} ${labelHex} ${state.book_sha256}`;
}

/**
 * Returns the error of a lost response, which the caller resolves by reading the account, or null.
 */
async function send(
  vault: VaultSession,
  { keyringChange }: SignedChange,
  options: OperationOptions,
): Promise<PortalError | null> {
  options.onProgress?.({ phase: "sending", done: 0, total: 1 });
  try {
    await sendWithRetry(vault.pause, () => vault.service.changeKeyring(keyringChange));
    return null;
  } catch (error) {
    if (isPortalError(error) && isResponseLost(error)) return error;
    throw error;
  }
}
