import { canonicalText, toB64u, type Slot } from "@relicario/shared/api";
import type { RotatedAccount } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { AccountKey, deriveTitlesKeys, isSameAccount, type TitlesKeys } from "../seal/account-key.ts";
import { makeKeyStatement } from "../seal/account-signatures.ts";
import { openBookInner, sealBookInner, type Book, type BookOpener } from "../seal/book.ts";
import { wipe } from "../seal/bytes.ts";
import { sealSlot } from "../seal/opener.ts";
import { openRequestsInner, sealRequestsInner, type Requests } from "../seal/requests.ts";
import { openSharesInner, sealSharesInner, type Shares } from "../seal/shares.ts";
import type { Shown } from "../shown-image.ts";
import { openAccount, showRecognised } from "../steps/open-account.ts";
import type { SignedChange } from "../steps/publish.ts";
import { readAccount, type AccountView } from "../steps/read-account.ts";
import { readKeyring, readUnopened, type OpenedKeyring } from "../steps/read-keyring.ts";
import type { RecognisedOpener } from "../steps/recognise-opener.ts";
import type { Besides } from "../steps/signed-change.ts";
import { switchRows, type Switch } from "../steps/switch-rows.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { openableRows } from "./openers.ts";
import { keepTitlesKeys, unlock } from "./unlock.ts";

type RotateOptions = ActOptions & { readonly losing?: readonly string[] };

/**
 * A new account key, after a device was lost or an opener removed. The openers shown stay; every
 * other one goes, for a slot takes the opener itself. Labels, book, state, shares and requests are
 * sealed anew, tickets where an opener goes, and switched to by one keyring change that the key
 * before signs. The new key is at rest nowhere but in the slots of that change.
 *
 * @param shown at least one picture among them
 * @param options `losing` names the secrets that no shown opener opens.
 * @throws PortalError `last_opener` without a picture, and, with the number of `secrets`, for
 *   secrets not named; those of showing, of {@link switchRows} and of reading.
 */
export async function rotate(
  vault: VaultContext,
  shown: readonly Shown[],
  { losing = [], ...options }: RotateOptions = {},
): Promise<RotatedAccount> {
  const openers = await showAll(vault, shown, options);
  try {
    return await vault.oneWriter(() => rotateTo(vault, openers, losing, options));
  } finally {
    for (const { opener } of openers) opener.forget();
  }
}

/** Which opener is shown, by its id. @throws PortalError those of showing. */
export async function recognise(
  vault: VaultContext,
  shown: Shown,
  options: ActOptions = {},
): Promise<{ readonly openerId: string }> {
  const openers = await showAll(vault, [shown], options);
  for (const { opener } of openers) opener.forget();
  const [first] = openers;
  if (first === undefined) throw new PortalError("opener_needed");
  return { openerId: first.opener.openerId };
}

/** Each once. The first one unlocks, where that has to be. */
async function showAll(vault: VaultContext, shown: readonly Shown[], options: ActOptions): Promise<RecognisedOpener[]> {
  const openers: RecognisedOpener[] = [];
  const known = vault.keys === null ? null : await readKeyring(vault, options.signal);
  let view = known?.opened == null ? null : known;
  try {
    for (const one of shown) {
      const unlocked = view === null ? await unlock(vault, one, options) : null;
      view ??= unlocked?.view ?? null;
      if (view === null) throw new PortalError("no_keyring");
      const recognised = unlocked ?? (await showRecognised(vault, one, view, options));
      if (openers.some(({ opener }) => opener.openerId === recognised.opener.openerId)) recognised.opener.forget();
      else openers.push(recognised);
    }
    return openers;
  } catch (error) {
    for (const { opener } of openers) opener.forget();
    throw error;
  }
}

async function rotateTo(
  vault: VaultContext,
  shown: readonly RecognisedOpener[],
  losing: readonly string[],
  options: ActOptions,
): Promise<RotatedAccount> {
  const next = AccountKey.make((vault.keys?.keyEpoch ?? 0) + 1);
  const keys = await deriveTitlesKeys(next);
  const result: { -readonly [K in keyof RotatedAccount]: RotatedAccount[K] } = { removed: [], revoked: [] };

  const plan = async (account: AccountView, opened: OpenedKeyring): Promise<Switch> => {
    const { accountKey, userId } = vault;
    if (accountKey === null || opened.keys.keyEpoch + 1 !== next.keyEpoch) throw new PortalError("show_opener_first");
    const { kept, gone } = await parted(vault, account, opened, shown, losing);
    const requests = opened.requests === null ? null : await waitingRevoked(vault, opened.requests, options.signal);
    result.removed = gone.map(({ id }) => id);
    result.revoked = requests?.revoked ?? [];
    const statement = await makeKeyStatement(keys, userId, opened.keys);
    const besides = async (shares: Shares | null): Promise<Besides> => ({
      documents: {
        book: await bookAnew(vault, { before: accountKey, next }, opened, kept),
        shares: await sharesAnew(vault, { before: accountKey, next }, shares ?? opened.shares),
        ...(requests === null
          ? {}
          : { requests: await requestsAnew(vault, { before: accountKey, next }, requests.document) }),
      },
      slots: {
        set: await slotsOf(vault, shown, next),
        remove: without(
          account.view.keyring.slots.map(({ opener_id: id }) => id),
          kept,
        ),
      },
      imageRecords: {
        set: [],
        remove: without(
          account.view.keyring.slots.filter(({ kind }) => kind === "image").map(({ opener_id: id }) => id),
          kept,
        ),
      },
      rotated: { keys, statement },
    });
    const wanted = (ids: readonly string[]): readonly BookOpener[] => kept.filter(({ id }) => ids.includes(id));
    return {
      how: { keys, shown: shown.map(({ opener }) => opener), wanted },
      besides,
      confirm: (change) => confirmRotation(vault, shown, keys, change),
    };
  };

  try {
    await switchRows(vault, plan, options);
  } finally {
    next.forget(); // the slots have it, and this worker by the one that it was read back through
  }
  return result;
}

/** @throws PortalError `last_opener`. */
async function parted(
  vault: VaultContext,
  account: AccountView,
  { book }: OpenedKeyring,
  shown: readonly RecognisedOpener[],
  losing: readonly string[],
): Promise<{ kept: readonly BookOpener[]; gone: readonly BookOpener[] }> {
  const isKept = ({ id }: BookOpener): boolean => shown.some(({ opener }) => opener.openerId === id);
  const [kept, gone] = [book.openers.filter(isKept), book.openers.filter((opener) => !isKept(opener))];
  if (kept.length !== shown.length) throw new PortalError("openers_changed"); // one was removed elsewhere meanwhile
  if (!kept.some(({ kind }) => kind === "image")) throw new PortalError("last_opener");
  const named = new Set(losing);
  const opens = (ids: readonly string[], openers: readonly BookOpener[]): boolean =>
    openers.some(({ id }) => ids.includes(id));
  const lost = (await openableRows(vault, account)).filter(
    ({ label }) => opens(label.openers, gone) && !opens(label.openers, kept),
  );
  if (lost.some(({ row }) => !named.has(row.secretId)))
    throw new PortalError("last_opener", { details: { secrets: lost.length } });
  return { kept, gone };
}

function without(ids: readonly string[], kept: readonly BookOpener[]): string[] {
  return ids.filter((id) => !kept.some((one) => one.id === id));
}

/** The same opener as before, for the new key. */
async function slotsOf(
  vault: VaultContext,
  shown: readonly RecognisedOpener[],
  accountKey: AccountKey,
): Promise<Slot[]> {
  return Promise.all(
    shown.map(async ({ opener, kind }) => ({
      opener_id: opener.openerId,
      kind,
      slot: toB64u(await sealSlot(opener, vault.userId, accountKey)),
    })),
  );
}

interface Keys {
  readonly before: AccountKey;
  readonly next: AccountKey;
}

/**
 * What was sealed to or signed by the key before stays readable: the book has its seed and its
 * public half.
 */
async function bookAnew(
  { userId }: VaultContext,
  { before, next }: Keys,
  { book, keys }: OpenedKeyring,
  kept: readonly BookOpener[],
): Promise<Book> {
  const inner = await openBookInner(before, userId, book);
  const seed = before.derive("relicario/v1/identity");
  const sealed = await sealBookInner(next, userId, {
    ...inner,
    openers: kept.map(({ id, recipient }) => ({ id, recipient })),
    old_identity_seeds: [...inner.old_identity_seeds, { key_epoch: before.keyEpoch, seed: toB64u(seed) }],
  });
  wipe(seed);
  const isGone = (id: string): boolean => !kept.some((opener) => opener.id === id);
  const images = book.images.map((image) =>
    image.status === "opener" && isGone(image.id) ? { ...image, status: "removed" as const } : image,
  );
  return {
    ...book,
    openers: [...kept],
    images,
    old_signing_keys: [...book.old_signing_keys, { key_epoch: keys.keyEpoch, signing_key: toB64u(keys.signingKey) }],
    inner: sealed,
  };
}

async function sharesAnew({ userId }: VaultContext, { before, next }: Keys, shares: Shares): Promise<Shares> {
  return { ...shares, inner: await sealSharesInner(next, userId, await openSharesInner(before, userId, shares)) };
}

async function requestsAnew({ userId }: VaultContext, { before, next }: Keys, requests: Requests): Promise<Requests> {
  return {
    ...requests,
    inner: await sealRequestsInner(next, userId, await openRequestsInner(before, userId, requests)),
  };
}

/**
 * Requests that wait for an answer name the key before: the service ends them with the switch.
 * Answers that came stay.
 */
async function waitingRevoked(
  vault: VaultContext,
  document: Requests,
  signal: AbortSignal | undefined,
): Promise<{ document: Requests; revoked: string[] }> {
  const open = document.requests.filter(({ state, answer_sha256: answer }) => state === "open" && answer === null);
  const lines = open.length === 0 ? [] : await vault.service.requests.list(signal);
  const waiting = new Set(
    open
      .map(({ request_id: id }) => id)
      .filter((id) => lines.some((line) => line.request_id === id && line.state === "awaiting")),
  );
  const requests = document.requests.map((entry) =>
    waiting.has(entry.request_id) ? { ...entry, state: "revoked" as const } : entry,
  );
  return {
    document: { ...document, requests },
    revoked: open.filter(({ request_id: id }) => waiting.has(id)).map(({ title }) => title),
  };
}

/**
 * Reads the account by a new slot and the opener that was shown: state, book and list have to open
 * under the new key, and every slot has to be the one that was sent. Before that this worker keeps
 * the keys that it had. It is read to its end, whoever gives up.
 */
async function confirmRotation(
  vault: VaultContext,
  shown: readonly RecognisedOpener[],
  keys: TitlesKeys,
  { keyring }: SignedChange,
): Promise<void> {
  const served = await readUnopened(vault);
  if (served.key_statement.signing_key !== toB64u(keys.signingKey)) throw new PortalError("publication_not_seen");
  const sent = keyring.slots?.set ?? [];
  if (!sent.every((slot) => served.slots.some((one) => canonicalText(one) === canonicalText(slot))))
    throw new PortalError("publication_not_seen");
  const [first] = shown;
  if (first === undefined) throw new PortalError("opener_needed");
  const opened = await openAccount(vault, served, first);
  if (!isSameAccount(opened.keys, keys)) throw new PortalError("publication_not_seen");
  await readAccount(vault, undefined, { keyring: served, opened });
  const { kind } = await vault.device.read();
  await vault.device.update(({ passkeyOpener }) =>
    passkeyOpener === null || opened.book.openers.some(({ id }) => id === passkeyOpener)
      ? null
      : { passkeyOpener: null },
  );
  if (kind === "own") await keepTitlesKeys(vault, opened.keys);
  vault.setState({ status: "unlocked", device: kind });
}
