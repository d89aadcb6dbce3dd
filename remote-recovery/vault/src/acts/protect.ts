import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { TitlesKeys } from "../seal/account-key.ts";
import { newId, timestamp } from "../seal/ids.ts";
import type { LabelPlace } from "../seal/label.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import type { AccountView } from "../steps/read-account.ts";
import { openerChoice } from "../steps/choose-openers.ts";
import { checkRequest } from "../steps/check-request.ts";
import { publishUntilItFits, requireOpened, type Attempt, type SignedChange } from "../steps/publish.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { sealInCall, sealRow, type Described, type ReadyContent, type SealedRow } from "../steps/sealed-secret.ts";
import { firstChange, nextChange } from "../steps/signed-change.ts";
import { unlock } from "./unlock.ts";
import type { ProtectRequest } from "../shown-image.ts";

export interface Published {
  readonly secretId: string;
  readonly version: number;
}

/**
 * [Note: Protect sequence]
 * 1. The request is checked, the content is sealed once to a fresh content identity.
 * 2. Keyring and whole list are read and checked. None yet: this is the bootstrapping.
 * 3. Openers are chosen: from the book, or a picture that is compared with the book and enrolled.
 * 4. Ticket (signed, sealed to the openers), label, book, state and the signed keyring change are
 *    made.
 * 5. One call publishes all in one transaction.
 * 6. On `state_conflict` steps 2 to 5 are done anew, eight times with jitter; the sealed content
 *    stays.
 *
 * Bootstrapping: slot, book, shares, key statement and image record go in that same call. They are
 * stored as pending before they are sent, never with the account key; after a crash
 * `read-keyring.ts` settles whether they were published.
 *
 * @throws PortalError as the contract lists them. Nothing is half published.
 */
export async function protect(
  vault: VaultContext,
  request: ProtectRequest,
  options: ActOptions = {},
): Promise<Published> {
  checkRequest(request);
  const content = await sealInCall(vault, request, options);
  return publishNew(vault, { ...request, createdAt: timestamp(vault.now()) }, request.protection, content, options);
}

/** Steps 2 to 6. */
export async function publishNew(
  vault: VaultContext,
  described: Described,
  protection: ProtectRequest["protection"],
  content: ReadyContent,
  options: ActOptions = {},
  secretId = newId(vault.now()),
): Promise<Published> {
  const place: LabelPlace = { secretId, version: 1, rev: 1 };
  const result: Published = { secretId, version: place.version };
  const choice = openerChoice(vault, protection, options);

  const prepare = async (account: AccountView | null): Promise<Attempt<Published>> => {
    const opened = requireOpened(account);
    const { openers, enrolled, first } = await choice.from(opened);
    options.onProgress?.({ phase: "sealing", done: 1, total: 2 });
    const seal = (keys: TitlesKeys): Promise<SealedRow> => sealRow(vault, keys, place, described, content, openers);
    const attempt = ({ label, ticket }: SealedRow, change: SignedChange): Attempt<Published> => {
      const row = { secret_db_id: secretId, label, ticket, keyring: change.keyring };
      return { change, send: () => content.publish(row), result };
    };
    if (account === null || opened === null) {
      // an account begins with an image: without one nothing could open it
      if (first === null) throw new PortalError("opener_needed");
      const row = await seal(first.keys);
      return attempt(row, await firstChange(vault, first, [row.root]));
    }
    const row = await seal(opened.keys);
    return attempt(row, await nextChange(vault, account, opened, [...account.rows.values(), row.root], { enrolled }));
  };
  // a new random id: a row with it can only be ours
  const published = (account: AccountView): Published | null => (account.rows.has(secretId) ? result : null);
  const onConflict = async (account: AccountView | null): Promise<void> => {
    if (account === null) await joinExisting(vault, protection, options);
  };
  try {
    return await publishUntilItFits(vault, { prepare, published, onConflict }, options);
  } finally {
    choice.forget();
  }
}

/**
 * A conflict at bootstrapping: another device was first, or our own answer got lost. Ours opens
 * under the pending key. Otherwise the picture that is shown now must open a slot of that keyring;
 * if it does not, the act fails with `pending_dropped`, so that the person hears that another
 * account key is in use.
 */
async function joinExisting(
  vault: VaultContext,
  protection: ProtectRequest["protection"],
  options: ActOptions,
): Promise<void> {
  const view = await readKeyring(vault, options.signal, "drop");
  if (view?.opened !== null) return; // there is no keyring, or the pending keys opened it: it is ours
  try {
    if (protection.kind !== "picture") throw new PortalError("vault_locked");
    const { opener } = await unlock(vault, protection.shown, options);
    opener.forget();
  } catch (cause) {
    if (isPortalError(cause, "cancelled")) throw cause;
    throw new PortalError("pending_dropped", { cause });
  }
}
