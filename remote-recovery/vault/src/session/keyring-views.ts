import type { Keyring, KeyringChange } from "@relicario/shared/api";

import type { VerifiedInner } from "../device/verified-inner.ts";
import type { MetadataKeys } from "../seal/account-key.ts";
import type { Book } from "../seal/book.ts";
import type { Requests } from "../seal/requests.ts";
import type { Shares } from "../seal/shares.ts";
import type { State } from "../seal/state.ts";

/** The keyring as sent and, if the session has its keys, as opened. */
export interface KeyringView {
  readonly keyring: Keyring;
  readonly openedKeyring: OpenedKeyring | null;
}

export interface OpenedKeyring {
  readonly keys: MetadataKeys;
  readonly state: State;
  readonly book: Book;
  readonly shares: Shares;
  /** Null before the first request. */
  readonly requests: Requests | null;
}

/** An opened and verified keyring, with what to save of it on the device. */
export interface VerifiedContents {
  readonly openedKeyring: OpenedKeyring;
  /** Null without an account key to open it. */
  readonly inner: VerifiedInner | null;
}

/** A fetched and verified keyring that has not been applied to the session. */
export interface VerifiedKeyring {
  readonly keyring: Keyring;
  /** Null if the session has no key that opens it. */
  readonly contents: VerifiedContents | null;
  readonly pendingAccount: PendingAccountOutcome;
}

/** Outcome of the account pending on this device; `statementSig` identifies its key statement. */
export type PendingAccountOutcome =
  /** No account is pending, or its outcome is unknown. */
  | { readonly kind: "unresolved" }
  /** The keyring is this account's. `hasSlotAndRecord`: the service has its slot and image too. */
  | {
      readonly kind: "published";
      readonly statementSig: string;
      readonly contents: VerifiedContents;
      readonly hasSlotAndRecord: boolean;
    }
  /** The keyring is of another account: this one will never be published. */
  | { readonly kind: "superseded"; readonly statementSig: string };

/** A signed keyring change, with the keys and the state after it. */
export interface SignedChange {
  readonly keys: MetadataKeys;
  readonly keyringChange: KeyringChange;
  readonly state: State;
  /** Whether this is the first change of an account. */
  readonly createsAccount: boolean;
}
