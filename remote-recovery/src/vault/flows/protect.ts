import { toB64u, type KeyringChange, type StoredSecret, type StoreSecret } from "@relicario/shared/api";
import type { ProtectRequest } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { deriveAccountKeys, importAccountKey, newAccountKeyBytes, withAccountKeyBytes, type AccountKeys } from "../seal/account-key.ts";
import { emptyBook, sealBook, type Book } from "../seal/book.ts";
import { copyOf, sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { sealContent, type SealedContent } from "../seal/content.ts";
import { newId, timestamp } from "../seal/ids.ts";
import { digestOfJwe } from "../seal/jwe.ts";
import { makeKeyStatement } from "../seal/key-statement.ts";
import { signKeyringChange } from "../seal/keyring-change.ts";
import { sealLabel, type LabelPlace } from "../seal/label.ts";
import { emptyShares, sealShares } from "../seal/shares.ts";
import { sealSlot } from "../seal/slot.ts";
import { rootOf, sealState, stateDigest, type State } from "../seal/state.ts";
import { sealTicket } from "../seal/ticket.ts";
import { refuseCancelled, type FlowOptions, type Session } from "../session.ts";
import { chooseOpeners, type ChosenOpeners, type FreshImage } from "./choose-openers.ts";
import { readAccount, rootRow, type AccountView } from "./list.ts";
import { firstKeyEpoch, forgetPending, forgetSketch, keepPending, pendingAccountKey } from "./pending.ts";
import { checkRequest, contentBytes, requireSmall } from "./protect-request.ts";
import { readKeyring, remember, type OpenedKeyring } from "./read-keyring.ts";
import { isAnswerLost, sendOnce } from "./send-once.ts";
import { pictureBytes } from "./show-image.ts";
import { unlock } from "./unlock.ts";

/** Tries at a conflicting state before it is said in words. */
export const conflictTries = 8;

/** Where a secret stands that is made now. */
interface Making {
  readonly request: ProtectRequest;
  readonly picture: Bytes | null;
  readonly content: SealedContent;
  readonly place: LabelPlace;
  readonly createdAt: string;
}

/** What a try publishes, and what the account is like once it is through. */
interface Publication {
  readonly keys: AccountKeys;
  readonly body: StoreSecret & { readonly keyring: KeyringChange; readonly label: string };
  readonly state: State;
  readonly fresh: FreshImage | null;
}

/**
 * [Note: Protect sequence]
 * 1. The request is checked, the content is sealed once to a fresh content identity.
 * 2. Keyring and whole list are read and checked. None yet: this is the bootstrapping.
 * 3. Openers are chosen: from the book, or a picture that is compared with the book and enrolled.
 * 4. Ticket (signed, sealed to the openers), label, book, state and the signed keyring change are made.
 * 5. One call publishes all in one transaction.
 * 6. On `state_conflict` steps 2 to 5 are done anew, eight times with jitter; the sealed content stays.
 *
 * Bootstrapping: account key, slot, book, shares, key statement and image record go in that same call. The account key is
 * stored as pending before it is sent; after a crash `read-keyring.ts` settles whether it was published.
 *
 * @throws PortalError as the contract lists them. Nothing is half published.
 */
export function protect(session: Session, request: ProtectRequest, options: FlowOptions): Promise<{ secretId: string; version: number }> {
  return session.oneWriter(async () => {
    checkRequest(request);
    const plain = await contentBytes(request.content);
    const picture = request.protection.kind === "picture" ? await pictureBytes(request.protection.shown.picture) : null;
    options.onProgress?.({ phase: "sealing", done: 0, total: 2 });
    const content = await sealContent(request.contentKind, plain);
    wipe(plain);
    requireSmall(content.sealed);
    const making: Making = { request, picture, content, place: { secretId: newId(session.now()), version: 1, rev: 1 }, createdAt: timestamp(session.now()) };
    return publishUntilItFits(session, making, options);
  });
}

async function publishUntilItFits(session: Session, making: Making, options: FlowOptions): Promise<{ secretId: string; version: number }> {
  let chosen: ChosenOpeners | null = null;
  let comparedWith: Book | null = null;
  try {
    for (let tries = 1; ; tries++) {
      refuseCancelled(options.signal);
      const account = await readAccount(session, options.signal);
      const isThere = account !== null && tries > 1 ? publishedRow(account, making) : null;
      if (isThere !== null) return isThere;
      const opened = requireOpened(account);
      const book = opened?.book ?? emptyBook();
      if (chosen === null || comparedWith === null || !isSameBook(comparedWith, book)) {
        chosen?.fresh?.opener.forget();
        chosen = await chooseOpeners(session, making.request.protection, making.picture, book, options);
        comparedWith = book;
      }
      options.onProgress?.({ phase: "sealing", done: 1, total: 2 });
      const publication = account === null || opened === null ? await firstPublication(session, making, chosen) : await nextPublication(session, making, chosen, account, opened);
      refuseCancelled(options.signal); // the last moment: what is sent may be published
      options.onProgress?.({ phase: "sending", done: 0, total: 1 });
      try {
        await sendOnce(session, () => session.service.store(publication.body));
        await settle(session, publication);
        options.onProgress?.({ phase: "sending", done: 1, total: 1 });
        return { secretId: making.place.secretId, version: making.place.version };
      } catch (error) {
        if (isAnswerLost(error)) {
          const found = await lookAgain(session, making, options);
          if (found !== null) return found;
        }
        // `id_taken`: an answer got lost and somebody wrote on since; the list tells.
        if (!isPortalError(error, "state_conflict", "id_taken") || tries >= conflictTries) throw error;
        await session.pause(jitter(tries), options.signal);
        if (account === null) await joinExisting(session, making.request, options);
      }
    }
  } finally {
    chosen?.fresh?.opener.forget();
  }
}

/** Null for the bootstrapping. @throws PortalError `vault_locked`. */
function requireOpened(account: AccountView | null): OpenedKeyring | null {
  if (account === null) return null;
  if (account.view.opened === null) throw new PortalError("vault_locked");
  return account.view.opened;
}

/** An answer that got lost: our row is in the list, byte for byte. */
function publishedRow(account: AccountView, making: Making): { secretId: string; version: number } | null {
  const row = account.rows.find((one) => one.secret_db_id === making.place.secretId);
  return row === undefined ? null : { secretId: row.secret_db_id, version: row.version };
}

/** No answer, several times: perhaps it was published all the same. Null when that cannot be seen. */
async function lookAgain(session: Session, making: Making, options: FlowOptions): Promise<{ secretId: string; version: number } | null> {
  try {
    const account = await readAccount(session, options.signal);
    return account === null ? null : publishedRow(account, making);
  } catch {
    return null; // the service is still away: the first error says what happened
  }
}

/** The very first secret: everything that hangs on the account key goes in the same call. */
async function firstPublication(session: Session, making: Making, chosen: ChosenOpeners): Promise<Publication> {
  if (chosen.fresh === null) throw new PortalError("opener_needed"); // the first opener is made here, or there is none
  const keys = await deriveAccountKeys((await pendingAccountKey(session.device)) ?? (await makePending(session)));
  const [book, shares, statement, slot] = await Promise.all([
    sealBook(keys, session.userId, chosen.book),
    sealShares(keys, session.userId, emptyShares()),
    makeKeyStatement(keys, session.userId),
    makeSlot(session, keys, chosen.fresh),
  ]);
  const sealed = await sealRow(session, keys, making, chosen);
  const state: State = {
    v: 1,
    key_epoch: keys.keyEpoch,
    state_rev: 1,
    count: 1,
    root: rootOf([{ ...making.place, label: sealed.label }]),
    book_sha256: toB64u(digestOfJwe(book)),
    shares_sha256: toB64u(digestOfJwe(shares)),
  };
  const keyring = await signKeyringChange(keys, {
    v: 1,
    user_id: session.userId,
    key_epoch: keys.keyEpoch,
    state_rev: 1,
    state: await sealState(keys, session.userId, state, null),
    book,
    shares,
    slots: { set: [slot], remove: [] },
    key_statement: statement,
    image_records: { set: [chosen.fresh.record], remove: [] },
  });
  return { keys, body: { ...sealed, keyring }, state, fresh: chosen.fresh };
}

/** Every later secret; book, slot and image record only when a new image comes with it. */
async function nextPublication(session: Session, making: Making, chosen: ChosenOpeners, account: AccountView, opened: OpenedKeyring): Promise<Publication> {
  const { keys } = opened;
  const { keyring } = account.view;
  const sealed = await sealRow(session, keys, making, chosen);
  const book = chosen.fresh === null ? null : await sealBook(keys, session.userId, chosen.book);
  const rows = [...account.rows.map((row: StoredSecret) => rootRow(row)), { ...making.place, label: sealed.label }];
  const state: State = {
    v: 1,
    key_epoch: keys.keyEpoch,
    state_rev: keyring.state_rev + 1,
    count: rows.length,
    root: rootOf(rows),
    book_sha256: book === null ? opened.state.book_sha256 : toB64u(digestOfJwe(book)),
    shares_sha256: opened.state.shares_sha256,
  };
  const change = await signKeyringChange(keys, {
    v: 1,
    user_id: session.userId,
    key_epoch: keys.keyEpoch,
    state_rev: state.state_rev,
    state: await sealState(keys, session.userId, state, stateDigest(keyring.state)),
    ...(book === null || chosen.fresh === null
      ? {}
      : { book, slots: { set: [await makeSlot(session, keys, chosen.fresh)], remove: [] }, image_records: { set: [chosen.fresh.record], remove: [] } }),
  });
  return { keys, body: { ...sealed, keyring: change }, state, fresh: chosen.fresh };
}

/** Ticket and label of this try; the content was sealed before and stays. */
async function sealRow(session: Session, keys: AccountKeys, making: Making, chosen: ChosenOpeners): Promise<{ secret_db_id: string; label: string; ticket: string; content: string }> {
  const { request, content, place } = making;
  const shown = { title: request.title, tags: [...request.tags], name: request.name, content_kind: request.contentKind, size: content.size };
  const ticket = await sealTicket(
    keys,
    chosen.openers.map((opener) => opener.recipient),
    {
      v: 1,
      kind: "owner",
      secret_id: place.secretId,
      version: place.version,
      rev: place.rev,
      owner: session.userId,
      ...shown,
      mime: request.mime,
      content_sha256: content.sha256,
      content_identity: content.identity,
      created_at: making.createdAt,
    },
  );
  const label = await sealLabel(keys, session.userId, place, {
    v: 1,
    ...shown,
    openers: chosen.openers.map((opener) => opener.id),
    ticket_sha256: toB64u(sha256(ticket)),
    rehearsed_at: null,
  });
  return { secret_db_id: place.secretId, label, ticket: toB64u(ticket), content: toB64u(content.sealed) };
}

async function makeSlot(session: Session, keys: AccountKeys, fresh: FreshImage): Promise<{ opener_id: string; kind: "image"; slot: string }> {
  const place = { userId: session.userId, keyEpoch: keys.keyEpoch };
  const slot = await withAccountKeyBytes(keys.accountKey, (bytes) => sealSlot(fresh.opener, place, bytes));
  return { opener_id: fresh.opener.openerId, kind: "image", slot: toB64u(slot) };
}

/** Makes an account key and stores it before anything is sent. `storage_full`: then nothing is. */
async function makePending(session: Session): Promise<Awaited<ReturnType<typeof importAccountKey>>> {
  const bytes = newAccountKeyBytes();
  try {
    await keepPending(session.device, bytes);
    return await importAccountKey(copyOf(bytes), firstKeyEpoch);
  } finally {
    wipe(bytes);
  }
}

/** Published: the key is held, the state remembered, what waited is forgotten. */
async function settle(session: Session, { keys, body, state, fresh }: Publication): Promise<void> {
  session.keys = keys;
  await remember(session, body.keyring, state);
  try {
    await forgetPending(session.device);
    if (fresh !== null) await forgetSketch(session.device, fresh.sketch);
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
    // What waited stays and is settled at the next reading: it opens what was published.
  }
  session.setState({ status: "unlocked", device: (await session.device.read()).kind });
}

/**
 * A conflict at bootstrapping: another device was first, or our own answer got lost. Ours opens under the pending key.
 * Otherwise the picture that is shown now must open a slot of that keyring; if it does not, it stops, aloud.
 */
async function joinExisting(session: Session, { protection }: ProtectRequest, options: FlowOptions): Promise<void> {
  const view = await readKeyring(session, options.signal, "drop");
  if (view?.opened !== null) return; // nothing there after all, or ours
  try {
    if (protection.kind !== "picture") throw new PortalError("vault_locked");
    const { opener } = await unlock(session, protection.shown, options);
    opener.forget();
  } catch (cause) {
    if (isPortalError(cause, "cancelled")) throw cause;
    throw new PortalError("pending_dropped", { cause });
  }
}

function isSameBook(left: Book, right: Book): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Milliseconds: growing, and never the same on two devices. */
function jitter(tries: number): number {
  return Math.round(50 * 2 ** Math.min(tries, 5) * (0.5 + Math.random()));
}
