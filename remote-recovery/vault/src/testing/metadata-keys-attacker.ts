import { toBase64url, type KeyringChange, type TicketSignature } from "@relicario/shared/api";
import { estimateStrength } from "@relicario/shared/contract";

import { readAccount, openRowLabel, requireRow, type AccountView } from "../keyring/read-account.ts";
import { fromStoredMetadataKeys, signDocument, type MetadataKeys } from "../seal/account-key.ts";
import { sealBook, type Book } from "../seal/book.ts";
import { sha256, utf8, type Bytes } from "../seal/bytes.ts";
import { sealContent } from "../seal/content.ts";
import { computeJweDigest } from "../seal/document.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { computeFormerVersionsDigest, sealLabel } from "../seal/label.ts";
import { computeLabelDigest, computeRoot, computeStateDigest, sealState, type RootRow } from "../seal/state.ts";
import { sealSignedTicket, type OwnerTicket } from "../seal/ticket.ts";
import { openVaultSession, type VaultSession } from "../session/vault-session.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import type { FakeAccount } from "./fake-account.ts";
import type { World } from "./world.ts";

/**
 * What a locked own device keeps, and a session of its account: enough to read titles and sign
 * changes, without any opener.
 */
export interface MetadataKeysAttacker {
  readonly keys: MetadataKeys;
  readonly vault: VaultSession;
  readonly read: () => Promise<{ readonly account: AccountView; readonly openedKeyring: OpenedKeyring }>;
  /** Signs a change of these rows and parts, with its state. */
  readonly sign: (
    rows: readonly RootRow[],
    parts?: { readonly book?: Book } & Partial<Omit<KeyringChange, "book">>,
  ) => Promise<KeyringChange>;
  /** A version with chosen content, sealed to the openers that the book names. */
  readonly forgeVersion: (
    secretId: string,
    content: string,
    options?: { readonly version?: number },
  ) => Promise<ForgedVersion>;
}

export interface ForgedVersion {
  readonly version: number;
  readonly label: string;
  readonly ticket: string;
  /** By the signing key: the attacker has no author key. */
  readonly ticket_sig: TicketSignature;
  readonly ticketDocument: OwnerTicket;
  readonly content: string;
  readonly keyring: KeyringChange;
}

/** @param deviceName an own device of the account that was unlocked before */
export async function stealMetadataKeys(world: World, deviceName = "laptop"): Promise<MetadataKeysAttacker> {
  const device = await world.openNamedDevice(deviceName);
  const { metadataKeys } = await device.read();
  if (metadataKeys === null) throw new TypeError("the device keeps no keys");
  const keys = fromStoredMetadataKeys(metadataKeys);
  const { userId, service } = await world.open(deviceName);
  const vault = await openVaultSession({
    userId,
    service,
    engine: world.engine,
    estimateStrength,
    device,
    onStateChange: () => undefined,
    confirmMark: () => Promise.resolve(true),
    pause: () => Promise.resolve(),
    locks: world.locks,
  });

  const read: MetadataKeysAttacker["read"] = async () => {
    const account = await readAccount(vault);
    const openedKeyring = account?.view.openedKeyring ?? null;
    if (account === null || openedKeyring === null) throw new TypeError("nothing to read");
    return { account, openedKeyring };
  };

  const sign: MetadataKeysAttacker["sign"] = async (rows, { book, ...parts } = {}) => {
    const { account, openedKeyring } = await read();
    const { keyring } = account.view;
    const sealedBook = book === undefined ? null : await sealBook(keys, userId, book);
    const { previous: _, ...state } = openedKeyring.state as typeof openedKeyring.state & { previous?: unknown };
    const change = {
      v: 1 as const,
      user_id: userId,
      key_epoch: keys.keyEpoch,
      state_rev: keyring.state_rev + 1,
      state: await sealState(
        keys,
        userId,
        {
          ...state,
          state_rev: keyring.state_rev + 1,
          count: rows.length,
          root: computeRoot(rows),
          ...(sealedBook === null ? {} : { book_sha256: toBase64url(computeJweDigest(sealedBook)) }),
        },
        computeStateDigest(keyring.state),
      ),
      ...(sealedBook === null ? {} : { book: sealedBook }),
      ...parts,
    };
    return signDocument("put", change, keys.signer);
  };

  const forgeVersion: MetadataKeysAttacker["forgeVersion"] = async (secretId, content, options = {}) => {
    const { account, openedKeyring } = await read();
    const { row } = requireRow(account, secretId);
    const previousLabel = await openRowLabel(userId, keys, row);
    const version = options.version ?? row.version + 1;
    const context = { secretId, version, rev: row.rev + 1 };
    const { sealed, sha256: contentSha256, identity, size } = await sealContent("text", utf8(content));
    const names = { title: previousLabel.title, tags: [...previousLabel.tags], name: previousLabel.name };
    const ticketDocument = await signDocument(
      "ticket",
      {
        v: 1 as const,
        kind: "owner" as const,
        secret_id: secretId,
        version,
        rev: context.rev,
        owner: userId,
        ...names,
        openers: [...previousLabel.openers],
        mime: "text/plain",
        content_kind: "text" as const,
        size,
        content_sha256: contentSha256,
        content_identity: identity,
        created_at: formatTimestamp(vault.now()),
      },
      keys.signer,
    );
    const ticket: Bytes = await sealSignedTicket(
      openedKeyring.book.openers.map(({ recipient }) => recipient),
      ticketDocument,
    );
    const label = await sealLabel(keys, userId, context, {
      ...previousLabel,
      size,
      ticket_sha256: toBase64url(sha256(ticket)),
      former_sha256:
        version === 1
          ? null
          : computeFormerVersionsDigest([{ version: row.version, ticketSha256: previousLabel.ticket_sha256 }]),
    });
    const others = [...account.rows.values()].filter((other) => other.secretId !== secretId);
    return {
      version,
      label,
      ticket: toBase64url(ticket),
      ticket_sig: await signDocument(
        "author-ticket",
        {
          v: 1 as const,
          user_id: userId,
          secret_id: secretId,
          version,
          rev: context.rev,
          share_id: null,
          contacts: [],
          ticket_sha256: toBase64url(sha256(ticket)),
          content_sha256: contentSha256,
        },
        keys.signer,
      ),
      ticketDocument,
      content: toBase64url(sealed),
      keyring: await sign([...others, { ...context, labelHex: computeLabelDigest(label) }]),
    };
  };
  return { keys, vault, read, sign, forgeVersion };
}

/** Stores a version as a service does that checks nothing. */
export function storeUnchecked(account: FakeAccount, secretId: string, forged: ForgedVersion): void {
  const row = account.rows.get(secretId);
  if (row === undefined || account.keyring === null) throw new TypeError("nothing to replace");
  const { label, ticket, content, version, keyring } = forged;
  row.versions = [...row.versions.slice(0, version - 1), { label, ticket, content, createdAt: row.createdAt }];
  row.change = ++account.changes;
  putUnchecked(account, keyring);
}

/** Takes a change as a service does that checks nothing. */
export function putUnchecked(account: FakeAccount, { state_rev, state, book }: KeyringChange): void {
  if (account.keyring === null) throw new TypeError("no keyring");
  account.keyring.states.push({ state_rev, state });
  if (book !== undefined) account.keyring.book = book;
}
