import { stringifyCanonical, toBase64url, type Slot } from "@relicario/shared/api";
import type { RotationResult } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { AccountKey, deriveMetadataKeys, hasSameAccountKey, type MetadataKeys } from "../seal/account-key.ts";
import { createKeyStatement } from "../seal/account-signatures.ts";
import { completeBook, openBookInner, type Book, type BookOpener } from "../seal/book.ts";
import { wipe } from "../seal/bytes.ts";
import { sealSlot, type RecognisedOpener } from "../seal/opener.ts";
import { openRequestsInner, sealRequestsInner, type Requests } from "../seal/requests.ts";
import { openSharesInner, sealSharesInner, type Shares } from "../seal/shares.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { openAccount, recognisePresented } from "../openers/open-account.ts";
import type { SignedChange, OpenedKeyring } from "../session/keyring-views.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { refreshKeyring, readUnopenedKeyring } from "../keyring/refresh-keyring.ts";
import type { ChangeParts } from "../keyring/build-keyring-change.ts";
import { resealAllRows, type ResealPlan } from "../secrets/reseal-all-rows.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readOpenableRows } from "./openers.ts";
import { saveMetadataKeys } from "../device/saved-keys.ts";
import { unlock } from "../openers/unlock.ts";

type RotateOptions = OperationOptions & { readonly acceptedLosses?: readonly string[] };

/**
 * Replaces the account key after a device was lost or an opener removed. The presented openers
 * stay. All others are removed, because sealing a slot needs the opener itself. Re-seals labels,
 * book, state, shares, requests, and the tickets that lose an opener. One keyring change, signed by
 * the current key, switches to all of this. The new key is stored only in the slots of that change.
 *
 * @param presentedOpeners at least one must be a picture
 * @param options `acceptedLosses` names secrets that may be lost because no presented opener opens
 *   them
 * @throws PortalError `last_opener` without a picture, or if a secret that is not named would be
 *   lost (with the number of `secrets`); errors of presenting, of {@link resealAllRows} and of
 *   reading
 */
export async function rotateAccountKey(
  vault: VaultSession,
  presentedOpeners: readonly PresentedOpener[],
  { acceptedLosses = [], ...options }: RotateOptions = {},
): Promise<RotationResult> {
  const openers = await recogniseAll(vault, presentedOpeners, options);
  try {
    return await vault.runExclusive(() => rotateWith(vault, openers, acceptedLosses, options));
  } finally {
    for (const { opener } of openers) opener.wipe();
  }
}

/** @throws PortalError those of presenting */
export async function recogniseOpenerId(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<{ readonly openerId: string }> {
  const openers = await recogniseAll(vault, [presentedOpener], options);
  for (const { opener } of openers) opener.wipe();
  const [firstOpener] = openers;
  if (firstOpener === undefined) throw new PortalError("opener_needed");
  return { openerId: firstOpener.opener.openerId };
}

/** Recognises each opener once. The first opener unlocks a locked device. */
async function recogniseAll(
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
  const nextKeys = await deriveMetadataKeys(nextKey);
  const result: { -readonly [K in keyof RotationResult]: RotationResult[K] } = {
    removedOpenerIds: [],
    revokedRequestTitles: [],
  };

  const createPlan = async (account: AccountView, openedKeyring: OpenedKeyring): Promise<ResealPlan> => {
    const { accountKey, userId } = vault;
    if (accountKey === null || openedKeyring.keys.keyEpoch + 1 !== nextKey.keyEpoch)
      throw new PortalError("show_opener_first");
    const { remainingOpeners, removedOpeners } = await partitionOpeners(
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
    result.removedOpenerIds = removedOpeners.map(({ id }) => id);
    result.revokedRequestTitles = revocation?.revoked ?? [];
    const statement = await createKeyStatement(nextKey, userId, accountKey);
    const buildChangeParts = async (shares: Shares | null): Promise<ChangeParts> => ({
      documents: {
        book: await resealBook(vault, { previous: accountKey, next: nextKey }, openedKeyring, remainingOpeners),
        shares: await resealShares(vault, { previous: accountKey, next: nextKey }, shares ?? openedKeyring.shares),
        ...(revocation === null
          ? {}
          : { requests: await resealRequests(vault, { previous: accountKey, next: nextKey }, revocation.document) }),
      },
      slots: {
        set: await sealSlots(vault, recognisedOpeners, nextKey),
        remove: excludeOpeners(
          account.view.keyring.slots.map(({ opener_id: id }) => id),
          remainingOpeners,
        ),
      },
      imageRecords: {
        set: [],
        remove: excludeOpeners(
          account.view.keyring.slots.filter(({ kind }) => kind === "image").map(({ opener_id: id }) => id),
          remainingOpeners,
        ),
      },
      rotation: { keys: nextKeys, statement },
    });
    const selectOpeners = (ids: readonly string[]): readonly BookOpener[] =>
      remainingOpeners.filter(({ id }) => ids.includes(id));
    return {
      params: {
        keys: nextKeys,
        accountKey: nextKey,
        openers: recognisedOpeners.map(({ opener }) => opener),
        selectOpeners,
      },
      buildChangeParts,
      confirm: (change) => confirmRotation(vault, recognisedOpeners, nextKeys, change),
    };
  };

  try {
    await resealAllRows(vault, createPlan, options);
  } finally {
    nextKey.wipe(); // the slots contain it, and the session has a copy that was read back from one
  }
  return result;
}

/** @throws PortalError `last_opener` */
async function partitionOpeners(
  vault: VaultSession,
  account: AccountView,
  { book }: OpenedKeyring,
  recognisedOpeners: readonly RecognisedOpener[],
  acceptedLosses: readonly string[],
): Promise<{ remainingOpeners: readonly BookOpener[]; removedOpeners: readonly BookOpener[] }> {
  const isRemaining = ({ id }: BookOpener): boolean => recognisedOpeners.some(({ opener }) => opener.openerId === id);
  const [remainingOpeners, removedOpeners] = [
    book.openers.filter(isRemaining),
    book.openers.filter((opener) => !isRemaining(opener)),
  ];
  // another device has removed one of the openers meanwhile
  if (remainingOpeners.length !== recognisedOpeners.length) throw new PortalError("openers_changed");
  if (!remainingOpeners.some(({ kind }) => kind === "image")) throw new PortalError("last_opener");
  const acceptedIds = new Set(acceptedLosses);
  const opensAny = (ids: readonly string[], openers: readonly BookOpener[]): boolean =>
    openers.some(({ id }) => ids.includes(id));
  const lostRows = (await readOpenableRows(vault, account)).filter(
    ({ label }) => opensAny(label.openers, removedOpeners) && !opensAny(label.openers, remainingOpeners),
  );
  if (lostRows.some(({ row }) => !acceptedIds.has(row.secretId)))
    throw new PortalError("last_opener", { details: { secrets: lostRows.length } });
  return { remainingOpeners, removedOpeners };
}

function excludeOpeners(ids: readonly string[], excluded: readonly BookOpener[]): string[] {
  return ids.filter((id) => !excluded.some((opener) => opener.id === id));
}

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
 * Keeps seed and author key of the former account key, so that everything sealed to it or signed by
 * it stays readable. Marks every person as not compared.
 */
async function resealBook(
  { userId }: VaultSession,
  { previous, next }: KeyTransition,
  { book, keys }: OpenedKeyring,
  remainingOpeners: readonly BookOpener[],
): Promise<Book> {
  const inner = await openBookInner(previous, userId, book);
  const seed = previous.derive("relicario/v1/identity");
  const identitySeed = toBase64url(seed);
  wipe(seed);
  const isRemoved = (id: string): boolean => !remainingOpeners.some((opener) => opener.id === id);
  const images = book.images.map((image) =>
    image.status === "opener" && isRemoved(image.id) ? { ...image, status: "removed" as const } : image,
  );
  return completeBook(
    next,
    userId,
    {
      ...book,
      openers: [...remainingOpeners],
      images,
      // whoever has the former key could have compared for the person
      people: book.people.map((person) => ({ ...person, compared: false })),
    },
    {
      ...inner,
      old_identity_seeds: [...inner.old_identity_seeds, { key_epoch: previous.keyEpoch, seed: identitySeed }],
      old_author_keys: [
        ...inner.old_author_keys,
        { key_epoch: keys.keyEpoch, author_key: toBase64url(keys.authorKey) },
      ],
    },
  );
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
 * Marks unanswered requests as revoked, because they name the former key and the service ends them
 * with the switch.
 */
async function revokeWaitingRequests(
  vault: VaultSession,
  document: Requests,
  signal: AbortSignal | undefined,
): Promise<{ document: Requests; revoked: string[] }> {
  const unanswered = document.requests.filter(
    ({ state, answer_sha256: answer }) => state === "open" && answer === null,
  );
  const servedRequests = unanswered.length === 0 ? [] : await vault.service.requests.list(signal);
  const waitingIds = new Set(
    unanswered
      .map(({ request_id: id }) => id)
      .filter((id) =>
        servedRequests.some((servedRequest) => servedRequest.request_id === id && servedRequest.state === "awaiting"),
      ),
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
 * Reads the account with a new slot. State, book and list must open under the new key, and every
 * slot must be the one that was sent. Until then the session keeps its former keys. The caller's
 * signal does not cancel this.
 */
async function confirmRotation(
  vault: VaultSession,
  recognisedOpeners: readonly RecognisedOpener[],
  keys: MetadataKeys,
  { keyringChange }: SignedChange,
): Promise<void> {
  const servedKeyring = await readUnopenedKeyring(vault);
  if (servedKeyring.key_statement.signing_key !== toBase64url(keys.signingKey))
    throw new PortalError("publication_not_seen");
  const sentSlots = keyringChange.slots?.set ?? [];
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
