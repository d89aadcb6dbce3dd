import type { Keyring, KeyringChange } from "@relicario/shared/api";

import type { VerifiedOpeners } from "../device/checked-openers.ts";
import type { MetadataKeys } from "../seal/account-key.ts";
import type { Book } from "../seal/book.ts";
import type { Requests } from "../seal/requests.ts";
import type { Shares } from "../seal/shares.ts";
import type { State } from "../seal/state.ts";

/** The keyring as given and, when this device holds the key, what it says. */
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

/** A keyring that was opened and verified, with what a device remembers of it. */
export interface VerifiedOpening {
  readonly openedKeyring: OpenedKeyring;
  /** Null where no account key was there to verify them. */
  readonly openers: VerifiedOpeners | null;
}

/** A keyring as it was fetched and verified, before the session takes anything of it. */
export interface VerifiedKeyring {
  readonly keyring: Keyring;
  /** Null while the session has no key that opens it. */
  readonly opening: VerifiedOpening | null;
  readonly pending: PendingOutcome;
}

/** What a keyring says of the account that waits on this device. */
export type PendingOutcome =
  /** None waits, or nothing can be said of it yet. */
  | { readonly kind: "unresolved" }
  /** It is this account. `complete`: the service is seen to have its slot and image record too. */
  | { readonly kind: "published"; readonly opening: VerifiedOpening; readonly complete: boolean }
  /** It never was, and will not be: there is another account. */
  | { readonly kind: "superseded" };

/** A signed keyring change, and the account after it. */
export interface SignedChange {
  readonly keys: MetadataKeys;
  readonly keyring: KeyringChange;
  readonly state: State;
  /** Whether an account begins with it. */
  readonly createsAccount: boolean;
}
