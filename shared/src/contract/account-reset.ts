import type { CallOptions, OpenerHandle } from "./contents.ts";

/**
 * Starting the account anew, when everything that opens it is lost: asked for with a fresh sign-in,
 * 7 days in which any device can object, then an empty account under a new key. What was there
 * before can never be opened here again.
 */
export interface VaultAccountReset {
  /** How things stand, as the service says. No opener, no unlocked device. */
  readonly status: (options?: CallOptions) => Promise<AccountResetStatus>;

  /**
   * Signs in again, in a window beside the page, then asks. Call it from a click. Asked already, it
   * is the same one. `no_keyring` where nothing is kept; otherwise as signing in: `popup_blocked`,
   * `cancelled`, `login_required`, `timed_out`.
   */
  readonly request: () => Promise<AccountResetStatus>;

  /**
   * Ends what was asked for: by who thought better of it, or by whoever did not ask. Nothing
   * happens when it has ended.
   */
  readonly end: (reason: "cancelled" | "objected") => Promise<AccountResetStatus>;

  /**
   * Signs in again, then begins with this picture, which takes the place of every opener of before.
   * Call it from a click. `conflict` while it may not be begun, `older_state`, `own_key_changed`,
   * `publication_not_seen`, and those of a new picture in {@link Vault.protect} and of {@link
   * request}. Nothing is changed then.
   */
  readonly complete: (
    picture: { readonly handle: OpenerHandle; readonly name: string },
    options?: CallOptions,
  ) => Promise<void>;
}

/** Times are RFC 3339; null where there is none. */
export interface AccountResetStatus {
  /**
   * `waiting` until `readyAt`, then `ready`; the last three since `endedAt`. `none`: nobody asked,
   * or it lapsed.
   */
  readonly state: "none" | "waiting" | "ready" | "objected" | "cancelled" | "begun";
  readonly requestedAt: string | null;
  readonly readyAt: string | null;
  readonly endedAt: string | null;
  /** After `begun`: until when the service keeps, sealed as it was, what was there before. */
  readonly retainedUntil: string | null;
}
