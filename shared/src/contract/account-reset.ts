import type { CallOptions, OpenerHandle } from "./contents.ts";

/**
 * Resets an account whose ways to open are all lost. A person who has just signed in requests the
 * reset. For 7 days any device of the account can object. After that, a new picture opens an empty
 * account under a new key. Earlier contents can no longer be opened.
 */
export interface VaultAccountReset {
  /**
   * Status of the reset, as the service reports it. Works on a locked device and needs no opener.
   */
  readonly status: (options?: CallOptions) => Promise<AccountResetStatus>;

  /**
   * Asks the person to sign in again in a window, then requests the reset. Idempotent. Call it from
   * a click, or the browser blocks the window.
   *
   * Fails with `no_keyring` if the account has no secrets, and with the codes of signing in:
   * `popup_blocked`, `cancelled`, `login_required`, `timed_out`.
   */
  readonly request: () => Promise<AccountResetStatus>;

  /**
   * Ends the requested reset: `cancelled` by the person who requested it, `objected` by any other
   * device of the account. Idempotent.
   */
  readonly end: (reason: "cancelled" | "objected") => Promise<AccountResetStatus>;

  /**
   * Asks the person to sign in again, then replaces all openers of the account by this picture.
   * Call it from a click.
   *
   * Fails with `conflict` while the reset is not ready, `older_state`, `own_key_changed`, the
   * picture codes of {@link Vault.protect}, and the codes of {@link request}. After these errors
   * nothing has changed. After `publication_not_seen` or a lost connection the account may be
   * reset: call {@link Vault.refresh} to find out.
   */
  readonly complete: (
    picture: { readonly handle: OpenerHandle; readonly name: string },
    options?: CallOptions,
  ) => Promise<void>;
}

/** Times are RFC 3339; null while they do not apply. */
export interface AccountResetStatus {
  /**
   * `none`: never requested, or lapsed. `waiting`: until `readyAt`. `ready`: from then on.
   * `objected`, `cancelled` and `begun` (the account was reset): since `endedAt`.
   */
  readonly state: "none" | "waiting" | "ready" | "objected" | "cancelled" | "begun";
  readonly requestedAt: string | null;
  readonly readyAt: string | null;
  readonly endedAt: string | null;
  /** After `begun`: when the service deletes the earlier sealed data. */
  readonly retainedUntil: string | null;
}
