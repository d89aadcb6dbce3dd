import type { ComponentType } from "react";

import type { PortalError } from "../errors/index.ts";
import type { CallOptions, ContentKind, OpenedContent, OpenerHandle, PictureFieldProps } from "./contents.ts";

/*
 * Sharing, requesting and receiving. Operations that need an account are part of the vault.
 * Operations of a page without an account are part of the visitor, which has no access to an
 * account's keys.
 */

export type ShareAudience = "public" | "signed_in" | "person";

export interface NewShareInput {
  readonly secretId: string;
  /** `person`: seals to the keys that {@link VaultPeople.find} returned, and pins these keys. */
  readonly to:
    | { readonly audience: "public" | "signed_in" }
    | { readonly audience: "person"; readonly person: PersonRecord };
  /** RFC 3339; at most 30 days ahead. */
  readonly expiresAt: string;
  /** Number of views; null for no limit. */
  readonly maxViews: number | null;
  /** Password of a link, or null. It is part of the key and is never sent. */
  readonly password: string | null;
  /**
   * Picture chosen for this link, or null. A picture that opens the account fails with
   * `picture_is_opener`.
   */
  readonly picture: OpenerHandle | null;
  /** Whether the owner gets a mail when the share is opened. */
  readonly notify: boolean;
}

/** Shares of this account. Each member also fails with the codes of every vault call. */
export interface VaultShares {
  /**
   * Seals the current version for a recipient and publishes the share. `link` is the complete URL
   * with its key; null for a person. Without an opener uses the one that is kept open, or fails
   * with `show_opener_first`. Also fails with `opener_needed`, `person_changed`,
   * `picture_is_opener`, `passphrase_too_weak` for a password below `requiredStrength`,
   * `version_conflict`, `state_conflict`.
   */
  readonly create: (
    request: NewShareInput,
    opener: OpenerHandle | null,
    options?: CallOptions,
  ) => Promise<{ readonly shareId: string; readonly link: string | null }>;
  /**
   * Lists shares from the sealed document, without a call to the service. For marks in lists. Empty
   * while locked.
   */
  readonly list: () => Promise<readonly ShareSummary[]>;
  /**
   * Lists the shares of a secret, newest first, as the service reports them. Compares them with the
   * sealed document.
   */
  readonly listForSecret: (
    secretId: string,
    options?: CallOptions & { readonly includeEnded?: boolean },
  ) => Promise<readonly SecretShare[]>;
  /**
   * Returns the complete URL of a link again. Fails with `show_opener_first` without an opener,
   * unless one was presented since the last load or lock. Fails with `decryption_failed` if the
   * service stores another ticket, version or date than was signed.
   */
  readonly getLink: (shareId: string, opener: OpenerHandle | null, options?: CallOptions) => Promise<string>;
  /**
   * Changes expiry or number of views. An earlier expiry or fewer views need no opener; others fail
   * with `show_opener_first` without one.
   */
  readonly change: (
    shareId: string,
    change: { readonly expiresAt?: string; readonly maxViews?: number | null },
    options?: CallOptions,
  ) => Promise<void>;
  /**
   * Re-seals the share to the current version of the secret. Null uses the opener that is kept
   * open; without one it fails with `show_opener_first`.
   */
  readonly updateContent: (shareId: string, opener: OpenerHandle | null, options?: CallOptions) => Promise<void>;
  /**
   * Revokes a share immediately, even one that the sealed document does not list. Needs no opener.
   * Idempotent. Recipients who opened the share may have kept its content.
   *
   * `vault_locked` and errors of the keyring occur after the service has revoked the share. Then
   * only the sealed document is not updated yet.
   */
  readonly revoke: (shareId: string, options?: CallOptions) => Promise<void>;
}

export interface ShareSummary {
  readonly shareId: string;
  readonly secretId: string;
  readonly version: number;
  readonly audience: ShareAudience;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
}

/**
 * How the service and the sealed document differ. `hidden`: only the document lists the share.
 * `unknown`: only the service lists it. `not_revoked_here`: revoked at the service, but not in the
 * document. `still_served`: revoked in the document, but the service still serves it. `changed`:
 * the service has another version, date or ticket than was signed.
 */
export type ShareDiscrepancy = "hidden" | "not_revoked_here" | "still_served" | "changed" | "unknown";

export interface SecretShare extends ShareSummary {
  readonly person: { readonly userId: string; readonly userName: string } | null;
  readonly hasPassword: boolean;
  readonly hasPicture: boolean;
  /** Number of views that the service counted. */
  readonly views: number;
  readonly maxViews: number | null;
  readonly lastOpenedAt: string | null;
  readonly state: "live" | "expired" | "used_up" | "revoked" | "locked" | "ended";
  /** Whether the secret has a newer version than the share. */
  readonly outdated: boolean;
  readonly discrepancy: ShareDiscrepancy | null;
}

/**
 * How far this account trusts a person's keys. `known`: the keys are pinned. `compared`: their
 * safety words were compared too. `changed`: the keys differ from the pinned ones, the user name
 * belongs to another account, or the account has another name. After a change nothing is sealed or
 * opened before the person decides.
 */
export type TrustLevel = "unknown" | "known" | "compared" | "changed";

/** An account, its user name, and its keys as they were shown. */
export interface PersonKeys {
  readonly userId: string;
  readonly userName: string;
  /** Eight safety words (English BIP-39 list) of the keys that the directory returns at present. */
  readonly safetyWords: readonly string[];
}

export interface PersonRecord extends PersonKeys {
  readonly trust: TrustLevel;
  /** Eight safety words of the pinned keys, if `trust` is `changed`. */
  readonly formerSafetyWords: readonly string[] | null;
  /** User name under which the account was pinned, if the name has changed. */
  readonly formerName: string | null;
  readonly blocked: boolean;
}

/**
 * People whose keys this account has pinned, stored in the sealed book. Reading needs no opener.
 * Pinning, comparing and blocking fail with `show_opener_first` if none was presented since the
 * last load or lock.
 */
export interface VaultPeople {
  /**
   * Looks up the current keys of a user name in the directory. Fails with `not_found` if the name
   * does not exist or its account has no keys yet.
   */
  readonly find: (userName: string, options?: CallOptions) => Promise<PersonRecord>;
  /**
   * Lists people with pinned keys. Makes no call to the directory, so that it does not learn whom
   * this account knows. {@link find} looks up current keys.
   */
  readonly list: () => Promise<readonly (PersonRecord & { readonly pinnedAt: string })[]>;
  /**
   * Pins the keys with these safety words, in place of keys pinned earlier. Fails with
   * `person_changed` if the directory returns other keys.
   */
  readonly pin: (person: PersonKeys, options?: CallOptions) => Promise<void>;
  /** Saves whether the person compared the safety words over a channel other than this portal. */
  readonly setCompared: (userId: string, compared: boolean) => Promise<void>;
  /**
   * Blocks or unblocks an account. Blocking an unknown account also pins its keys. Fails with
   * `not_found`, and with `person_changed` if the directory returns other keys.
   */
  readonly setBlocked: (person: PersonKeys, blocked: boolean) => Promise<void>;
  /** Returns this account's own safety words, for other people to compare. */
  readonly getOwnSafetyWords: () => Promise<{ readonly userName: string; readonly safetyWords: readonly string[] }>;
}

export interface ReceivedShare {
  readonly shareId: string;
  readonly from: {
    readonly userId: string;
    readonly userName: string;
    readonly trust: TrustLevel;
    readonly blocked: boolean;
  };
  readonly audience: ShareAudience;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly openedAt: string | null;
  readonly viewsLeft: number | null;
  readonly available: boolean;
}

/** Account that sealed a share. `says`: the name is the sender's claim. */
export interface Sender {
  readonly userId: string;
  readonly userName: string;
  readonly trust: "compared" | "known" | "says";
  readonly safetyWords: readonly string[];
}

export interface OpenedShare extends OpenedContent {
  readonly shareId: string;
  readonly title: string;
  readonly sender: Sender;
}

/** Shares that other people sealed to keys of this account, and links for signed-in people. */
export interface VaultReceived {
  readonly list: (options?: CallOptions & { readonly includeEnded?: boolean }) => Promise<readonly ReceivedShare[]>;
  /**
   * Claims a view and opens the share.
   *
   * Fails with `show_opener_first` without an opener, unless one was presented since the last load
   * or lock; `share_unavailable`; `decryption_failed`. Fails before a view is claimed, with {@link
   * PersonDetails}, with `person_changed`, `person_blocked`, and with `person_unknown` for a sender
   * whose keys are not pinned. Pass the sender's safety words as `acceptedWords` to pin the keys
   * and open the share.
   */
  readonly open: (
    shareId: string,
    opener: OpenerHandle | null,
    options?: CallOptions & { readonly acceptedWords?: readonly string[] },
  ) => Promise<OpenedShare>;
}

export interface SecretRequest {
  readonly title: string;
  readonly note: string;
  /** Name that the requester chose. Only the link authenticates it. */
  readonly requesterName: string;
  /** RFC 3339; at most 30 days ahead. */
  readonly expiresAt: string;
  /** Maximum number of bytes of the plain content. */
  readonly maxSize: number;
  readonly notify: boolean;
}

export interface RequestRow {
  readonly requestId: string;
  readonly title: string;
  readonly state: "awaiting" | "provided" | "collected" | "expired" | "revoked";
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly providedAt: string | null;
  readonly collectedAt: string | null;
  /** Bytes of the sealed answer; null before the answer has arrived. */
  readonly size: number | null;
  /** As {@link ShareDiscrepancy}. */
  readonly discrepancy: "hidden" | "unknown" | "not_revoked_here" | "still_served" | null;
}

export interface OpenedAnswer extends OpenedContent {
  readonly requestId: string;
  readonly note: string;
  /** Eight words of the English BIP-39 list. The sender saw the same words, or their numbers. */
  readonly receiptWords: readonly string[];
  readonly createdAt: string;
}

/** Requests of this account, which ask other people for secrets. */
export interface VaultRequests {
  /**
   * Publishes a request. Fails with `show_opener_first` without an opener, unless one was presented
   * since the last load or lock; `limit_reached` with 20 open requests; `no_keyring` before the
   * first secret.
   */
  readonly create: (
    request: SecretRequest,
    opener: OpenerHandle | null,
    options?: CallOptions,
  ) => Promise<{ readonly requestId: string; readonly link: string }>;
  /** Newest first. */
  readonly list: (options?: CallOptions & { readonly includeEnded?: boolean }) => Promise<readonly RequestRow[]>;
  readonly getLink: (requestId: string, opener: OpenerHandle | null, options?: CallOptions) => Promise<string>;
  /**
   * Opens the answer without marking it as collected. Fails with `not_found` before an answer has
   * arrived, `content_gone`, and `decryption_failed` if it is not the answer that was opened first.
   */
  readonly open: (requestId: string, opener: OpenerHandle | null, options?: CallOptions) => Promise<OpenedAnswer>;
  /**
   * Marks an answer as collected; the service deletes its content 7 days later. Fails like
   * {@link drop} with `show_opener_first` if no opener was presented since the last load or lock.
   */
  readonly collect: (requestId: string, options?: CallOptions) => Promise<void>;
  /**
   * Revokes an open request, deletes a collected answer at once, or removes an expired request from
   * the list. Also ends a request that only the service lists.
   */
  readonly drop: (requestId: string, options?: CallOptions) => Promise<void>;
}

export interface SharePreview {
  readonly audience: ShareAudience;
  readonly from: { readonly userName: string };
  readonly hasPassword: boolean;
  readonly hasPicture: boolean;
  readonly expiresAt: string;
  readonly viewsLeft: number | null;
}

export interface ProvidedSecret {
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  readonly content: Blob;
  readonly note: string;
}

export interface RequestPreview {
  readonly title: string;
  readonly note: string;
  readonly requesterName: string;
  readonly expiresAt: string;
  /** Maximum number of bytes of the plain content. */
  readonly maxSize: number;
  readonly state: RequestRow["state"];
  /** Answer that this browser started and has not finished. */
  readonly unfinishedAnswer: { readonly name: string; readonly size: number; readonly sentBytes: number } | null;
  /**
   * Receipt words of an answer that was accepted although its confirmation was lost. Returned once.
   */
  readonly receiptWords?: readonly string[];
}

/**
 * Operations of a page opened by a link. The link key goes from the URL to the visitor's worker,
 * and never to a screen.
 *
 * `link_incomplete`: the link had no key, or the page was reloaded. The person then has to open the
 * link again.
 */
export interface Visitor {
  /**
   * Describes a share without claiming a view. Fails with `share_unavailable`, `link_incomplete`.
   */
  readonly previewShare: (shareId: string, options?: CallOptions) => Promise<SharePreview>;
  /**
   * Claims a view and opens the share. A wrong picture costs no view. Fails with `wrong_password`
   * (details: `tries_left`), `not_this_picture`, `share_unavailable`, `decryption_failed`.
   */
  readonly openShare: (
    shareId: string,
    credentials: { readonly password: string | null; readonly picture: OpenerHandle | null },
    options?: CallOptions,
  ) => Promise<OpenedShare>;
  /**
   * Describes a request. Fails with `request_unavailable`, `link_incomplete`, and with
   * `decryption_failed` if the service returned a request that its requester did not seal.
   */
  readonly previewRequest: (requestId: string, options?: CallOptions) => Promise<RequestPreview>;
  /**
   * Seals an answer to the requester and sends it. Continues an `unfinishedAnswer` with the same
   * content. After an abort the service keeps the parts that were sent for a day.
   *
   * `receiptWords` is the receipt. With `fromEarlierAnswer` it is the receipt of an earlier answer
   * of this browser, which had been accepted; this call then sent nothing.
   *
   * Fails with `file_changed` for a content other than that of the `unfinishedAnswer`, unless
   * `restart` is set; `request_closed` if another answer was accepted first; `payload_too_large`;
   * `conflict` while another tab sends.
   */
  readonly answer: (
    requestId: string,
    provided: ProvidedSecret,
    options?: CallOptions & { readonly restart?: boolean },
  ) => Promise<{ readonly receiptWords: readonly string[]; readonly fromEarlierAnswer?: true }>;
  /** Form field for the picture of a share. */
  readonly PictureField: ComponentType<PictureFieldProps>;
  readonly releaseOpener: (handle: OpenerHandle) => void;
  /** Terminates the workers and wipes the link key. */
  readonly close: () => void;
}

/**
 * Details of the error with which {@link VaultReceived.open} stopped. `safetyWords` is empty if the
 * directory has no keys of the sender.
 */
export interface PersonDetails extends PersonKeys {
  readonly formerSafetyWords: readonly string[] | null;
  readonly formerName: string | null;
}

/**
 * Parses the details of `person_unknown`, `person_changed` or `person_blocked`. Null for any other
 * error.
 */
export function parsePersonDetails(error: PortalError): PersonDetails | null {
  if (error.code !== "person_unknown" && error.code !== "person_changed" && error.code !== "person_blocked")
    return null;
  const {
    user_id: userId,
    user_name: userName,
    words: safetyWords,
    former_words: formerSafetyWords,
    former_name: formerName,
  } = error.details;
  const isWords = (value: unknown): value is readonly string[] =>
    Array.isArray(value) && value.every((word) => typeof word === "string");
  if (typeof userId !== "string" || typeof userName !== "string" || !isWords(safetyWords)) return null;
  return {
    userId,
    userName,
    safetyWords,
    formerSafetyWords: isWords(formerSafetyWords) ? formerSafetyWords : null,
    formerName: typeof formerName === "string" ? formerName : null,
  };
}
