import { stringifyCanonical, toBase64url, type Slot } from "@relicario/shared/api";
import type { RotationResult } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { AccountKey, deriveMetadataKeys, hasSameAccountKey, type MetadataKeys } from "../seal/account-key.ts";
import { createKeyStatement } from "../seal/account-signatures.ts";
import { openBookInner, sealBookInner, type Book, type BookOpener } from "../seal/book.ts";
import { wipe } from "../seal/bytes.ts";
import { sealSlot } from "../seal/opener.ts";
import { openRequestsInner, sealRequestsInner, type Requests } from "../seal/requests.ts";
import { openSharesInner, sealSharesInner, type Shares } from "../seal/shares.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { openAccount, recognisePresented } from "../openers/open-account.ts";
import type { SignedChange, OpenedKeyring } from "../session/keyring-views.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { refreshKeyring, readUnopenedKeyring } from "../keyring/refresh-keyring.ts";
import type { RecognisedOpener } from "../openers/recognise-opener.ts";
import type { ChangeParts } from "../keyring/build-keyring-change.ts";
import { resealAllRows, type ResealPlan } from "../secrets/reseal-all-rows.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openableRows } from "./openers.ts";
import { saveMetadataKeys } from "../device/saved-keys.ts";
import { unlock } from "../openers/unlock.ts";

type RotateOptions = OperationOptions & { readonly acceptedLosses?: readonly string[] };

/**
 * A new account key, after a device was lost or an opener removed. The openers shown stay; every
 * other one goes, for a slot takes the opener itself. Labels, book, state, shares and requests are
 * sealed anew, tickets where an opener goes, and switched to by one keyring change that the key
 * before signs. The new key is at rest nowhere but in the slots of that change.
 *
 * @param presentedOpeners at least one picture among them
 * @param options `acceptedLosses` names the secrets that no shown opener opens.
 * @throws PortalError `last_opener` without a picture, and, with the number of `secrets`, for
 *   secrets not named; those of showing, of {@link resealAllRows} and of reading.
 */
export async function rotate(
  vault: VaultSession,
  presentedOpeners: readonly PresentedOpener[],
  { acceptedLosses = [], ...options }: RotateOptions = {},
): Promise<RotationResult> {
  const openers = await presentAll(vault, presentedOpeners, options);
  try {
    return await vault.runExclusive(() => rotateWith(vault, openers, acceptedLosses, options));
  } finally {
    for (const { opener } of openers) opener.wipe();
  }
}

/** Which opener is shown, by its id. @throws PortalError those of showing. */
export async function recognise(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<{ readonly openerId: string }> {
  const openers = await presentAll(vault, [presentedOpener], options);
  for (const { opener } of openers) opener.wipe();
  const [firstOpener] = openers;
  if (firstOpener === undefined) throw new PortalError("opener_needed");
  return { openerId: firstOpener.opener.openerId };
}

/** Each once. The first one unlocks, where that has to be. */
async function presentAll(
  vault: VaultSession,
  presentedOpeners: readonly PresentedOpener[],
  options: OperationOptions,
): Promise<RecognisedOpener[]> {
  const openers: RecognisedOpener[] = [];
  const currentView = vault.keys === null ? null : await refreshKeyring(vault, options.signal);
  let view = currentView?.openedKeyring == null ? null : currentView;
  try {
    for (const presentedOpener of presentedOpeners) {
      const unlocked = view === null ? await unlock(vault, presentedOpener, options) : null;
      view ??= unlocked?.view ?? null;
      if (view === null) throw new PortalError("no_keyring");
      const recognised = unlocked ?? (await recognisePresented(vault, presentedOpener, view, options));
      if (openers.some(({ opener }) => opener.openerId === recognised.opener.openerId)) recognised.opener.wipe();
      else openers.push(recognised);
    }
    return openers;
  } catch (error) {
    for (const { opener } of openers) opener.wipe();
    throw error;
  }
}

async function rotateWith(
  vault: VaultSession,
  recognisedOpeners: readonly RecognisedOpener[],
  acceptedLosses: readonly string[],
  options: OperationOptions,
): Promise<RotationResult> {
  const nextKey = AccountKey.generate((vault.keys?.keyEpoch ?? 0) + 1);
  const keys = await deriveMetadataKeys(nextKey);
  const result: { -readonly [K in keyof RotationResult]: RotationResult[K] } = {
    removedOpenerIds: [],
    revokedRequestTitles: [],
  };

  const createPlan = async (account: AccountView, openedKeyring: OpenedKeyring): Promise<ResealPlan> => {
    const { accountKey, userId } = vault;
    if (accountKey === null || openedKeyring.keys.keyEpoch + 1 !== nextKey.keyEpoch)
      throw new PortalError("show_opener_first");
    const { remaining, removed } = await partitionOpeners(
      vault,
      account,
      openedKeyring,
      recognisedOpeners,
      acceptedLosses,
    );
    const revocation =
      openedKeyring.requests === null
        ? null
        : await revokeWaitingRequests(vault, openedKeyring.requests, options.signal);
    result.removedOpenerIds = removed.map(({ id }) => id);
    result.revokedRequestTitles = revocation?.revoked ?? [];
    const statement = await createKeyStatement(keys, userId, openedKeyring.keys);
    const buildChangeParts = async (shares: Shares | null): Promise<ChangeParts> => ({
      documents: {
        book: await resealBook(vault, { previous: accountKey, next: nextKey }, openedKeyring, remaining),
        shares: await resealShares(vault, { previous: accountKey, next: nextKey }, shares ?? openedKeyring.shares),
        ...(revocation === null
          ? {}
          : { requests: await resealRequests(vault, { previous: accountKey, next: nextKey }, revocation.document) }),
      },
      slots: {
        set: await sealSlots(vault, recognisedOpeners, nextKey),
        remove: excludeOpeners(
          account.view.keyring.slots.map(({ opener_id: id }) => id),
          remaining,
        ),
      },
      imageRecords: {
        set: [],
        remove: excludeOpeners(
          account.view.keyring.slots.filter(({ kind }) => kind === "image").map(({ opener_id: id }) => id),
          remaining,
        ),
      },
      rotated: { keys, statement },
    });
    const selectOpeners = (ids: readonly string[]): readonly BookOpener[] =>
      remaining.filter(({ id }) => ids.includes(id));
    return {
      params: { keys, openers: recognisedOpeners.map(({ opener }) => opener), selectOpeners },
      buildChangeParts,
      confirm: (change) => confirmRotation(vault, recognisedOpeners, keys, change),
    };
  };

  try {
    await resealAllRows(vault, createPlan, options);
  } finally {
    nextKey.wipe(); // the slots have it, and this worker by the one that it was read back through
  }
  return result;
}

/** @throws PortalError `last_opener`. */
async function partitionOpeners(
  vault: VaultSession,
  account: AccountView,
  { book }: OpenedKeyring,
  recognisedOpeners: readonly RecognisedOpener[],
  acceptedLosses: readonly string[],
): Promise<{ remaining: readonly BookOpener[]; removed: readonly BookOpener[] }> {
  const isRemaining = ({ id }: BookOpener): boolean => recognisedOpeners.some(({ opener }) => opener.openerId === id);
  const [remaining, removed] = [
    book.openers.filter(isRemaining),
    book.openers.filter((opener) => !isRemaining(opener)),
  ];
  // one was removed elsewhere meanwhile
  if (remaining.length !== recognisedOpeners.length) throw new PortalError("openers_changed");
  if (!remaining.some(({ kind }) => kind === "image")) throw new PortalError("last_opener");
  const acceptedIds = new Set(acceptedLosses);
  const opensAny = (ids: readonly string[], openers: readonly BookOpener[]): boolean =>
    openers.some(({ id }) => ids.includes(id));
  const lostRows = (await openableRows(vault, account)).filter(
    ({ label }) => opensAny(label.openers, removed) && !opensAny(label.openers, remaining),
  );
  if (lostRows.some(({ row }) => !acceptedIds.has(row.secretId)))
    throw new PortalError("last_opener", { details: { secrets: lostRows.length } });
  return { remaining, removed };
}

function excludeOpeners(ids: readonly string[], excluded: readonly BookOpener[]): string[] {
  return ids.filter((id) => !excluded.some((opener) => opener.id === id));
}

/** The same opener as before, for the new key. */
async function sealSlots(
  vault: VaultSession,
  recognisedOpeners: readonly RecognisedOpener[],
  accountKey: AccountKey,
): Promise<Slot[]> {
  return Promise.all(
    recognisedOpeners.map(async ({ opener, kind }) => ({
      opener_id: opener.openerId,
      kind,
      slot: toBase64url(await sealSlot(opener, vault.userId, accountKey)),
    })),
  );
}

interface KeyTransition {
  readonly previous: AccountKey;
  readonly next: AccountKey;
}

/**
 * What was sealed to or signed by the key before stays readable: the book has its seed and its
 * public half.
 */
async function resealBook(
  { userId }: VaultSession,
  { previous, next }: KeyTransition,
  { book, keys }: OpenedKeyring,
  remaining: readonly BookOpener[],
): Promise<Book> {
  const inner = await openBookInner(previous, userId, book);
  const seed = previous.derive("relicario/v1/identity");
  const sealed = await sealBookInner(next, userId, {
    ...inner,
    openers: remaining.map(({ id, recipient }) => ({ id, recipient })),
    old_identity_seeds: [...inner.old_identity_seeds, { key_epoch: previous.keyEpoch, seed: toBase64url(seed) }],
  });
  wipe(seed);
  const isRemoved = (id: string): boolean => !remaining.some((opener) => opener.id === id);
  const images = book.images.map((image) =>
    image.status === "opener" && isRemoved(image.id) ? { ...image, status: "removed" as const } : image,
  );
  return {
    ...book,
    openers: [...remaining],
    images,
    old_signing_keys: [
      ...book.old_signing_keys,
      { key_epoch: keys.keyEpoch, signing_key: toBase64url(keys.signingKey) },
    ],
    inner: sealed,
  };
}

async function resealShares(
  { userId }: VaultSession,
  { previous, next }: KeyTransition,
  shares: Shares,
): Promise<Shares> {
  return { ...shares, inner: await sealSharesInner(next, userId, await openSharesInner(previous, userId, shares)) };
}

async function resealRequests(
  { userId }: VaultSession,
  { previous, next }: KeyTransition,
  requests: Requests,
): Promise<Requests> {
  return {
    ...requests,
    inner: await sealRequestsInner(next, userId, await openRequestsInner(previous, userId, requests)),
  };
}

/**
 * Requests that wait for an answer name the key before: the service ends them with the switch.
 * Answers that came stay.
 */
async function revokeWaitingRequests(
  vault: VaultSession,
  document: Requests,
  signal: AbortSignal | undefined,
): Promise<{ document: Requests; revoked: string[] }> {
  const unanswered = document.requests.filter(
    ({ state, answer_sha256: answer }) => state === "open" && answer === null,
  );
  const requestLines = unanswered.length === 0 ? [] : await vault.service.requests.list(signal);
  const waitingIds = new Set(
    unanswered
      .map(({ request_id: id }) => id)
      .filter((id) => requestLines.some((line) => line.request_id === id && line.state === "awaiting")),
  );
  const requests = document.requests.map((entry) =>
    waitingIds.has(entry.request_id) ? { ...entry, state: "revoked" as const } : entry,
  );
  return {
    document: { ...document, requests },
    revoked: unanswered.filter(({ request_id: id }) => waitingIds.has(id)).map(({ title }) => title),
  };
}

/**
 * Reads the account by a new slot and the opener that was shown: state, book and list have to open
 * under the new key, and every slot has to be the one that was sent. Before that this worker keeps
 * the keys that it had. It is read to its end, whoever gives up.
 */
async function confirmRotation(
  vault: VaultSession,
  recognisedOpeners: readonly RecognisedOpener[],
  keys: MetadataKeys,
  { keyring }: SignedChange,
): Promise<void> {
  const servedKeyring = await readUnopenedKeyring(vault);
  if (servedKeyring.key_statement.signing_key !== toBase64url(keys.signingKey))
    throw new PortalError("publication_not_seen");
  const sentSlots = keyring.slots?.set ?? [];
  if (
    !sentSlots.every((slot) =>
      servedKeyring.slots.some((servedSlot) => stringifyCanonical(servedSlot) === stringifyCanonical(slot)),
    )
  )
    throw new PortalError("publication_not_seen");
  const [firstOpener] = recognisedOpeners;
  if (firstOpener === undefined) throw new PortalError("opener_needed");
  const openedKeyring = await openAccount(vault, servedKeyring, firstOpener);
  if (!hasSameAccountKey(openedKeyring.keys, keys)) throw new PortalError("publication_not_seen");
  await readAccount(vault, undefined, { keyring: servedKeyring, openedKeyring });
  const { kind } = await vault.device.read();
  await vault.device.update(({ passkeyOpener }) =>
    passkeyOpener === null || openedKeyring.book.openers.some(({ id }) => id === passkeyOpener)
      ? null
      : { passkeyOpener: null },
  );
  if (kind === "own") await saveMetadataKeys(vault, openedKeyring.keys);
  await vault.reportUnlocked();
}
