import type { ComponentType } from "react";

import type { PortalError } from "../errors/index.ts";
import type { CallOptions, ContentKind, PictureFieldProps, OpenedSecret, OpenerHandle } from "./contents.ts";

/*
 * Sharing, asking and receiving. What a person with an account does is part of the vault; what a
 * page without one does is the visitor's, which has no way to the keys of an account.
 */

export type ShareAudience = "public" | "signed_in" | "person";

export interface NewShareInput {
  readonly secretId: string;
  /** `person` is sealed to the keys that {@link VaultPeople.find} showed, and pins them. */
  readonly to:
    | { readonly audience: "public" | "signed_in" }
    | { readonly audience: "person"; readonly person: PersonRecord };
  /** RFC 3339; at most 30 days ahead. */
  readonly expiresAt: string;
  /** Null: no limit. */
  readonly maxViews: number | null;
  /** Of a link; null without one. It goes into the key and is never sent. */
  readonly password: string | null;
  /**
   * Of a link: a picture chosen for this share. `picture_is_opener` when it is one of the owner's
   * own.
   */
  readonly picture: OpenerHandle | null;
  /** Mail when it is opened. */
  readonly notify: boolean;
}

/** Shares of this account. Each member also has the codes of any call of the vault. */
export interface VaultShares {
  /**
   * Seals the present version for somebody and publishes it. `link` is the whole address with its
   * key, null for a person. `opener_needed`, `person_changed`, `picture_is_opener`,
   * `version_conflict`, `state_conflict`.
   */
  readonly create: (
    request: NewShareInput,
    opener: OpenerHandle,
    options?: CallOptions,
  ) => Promise<{ readonly shareId: string; readonly link: string | null }>;
  /**
   * From the sealed document alone, no call to the sharing part of the service: for marks in lists.
   * Empty while locked.
   */
  readonly list: () => Promise<readonly ShareSummary[]>;
  /** Those of one secret as the service says, compared with the sealed document; newest first. */
  readonly listForSecret: (
    secretId: string,
    options?: CallOptions & { readonly includeEnded?: boolean },
  ) => Promise<readonly SecretShare[]>;
  /**
   * The whole address of a link once more. `show_opener_first` without an opener where none was
   * shown since load or lock, `decryption_failed` where the service keeps another ticket, version
   * or date of it than was signed.
   */
  readonly getLink: (shareId: string, opener: OpenerHandle | null, options?: CallOptions) => Promise<string>;
  /** Takes no opener. */
  readonly change: (
    shareId: string,
    change: { readonly expiresAt?: string; readonly maxViews?: number | null },
    options?: CallOptions,
  ) => Promise<void>;
  /** Seals the present version of the secret for whoever has the share. */
  readonly updateContent: (shareId: string, opener: OpenerHandle, options?: CallOptions) => Promise<void>;
  /**
   * Effective at once, also for a share that only the service names; takes no opener. Who opened it
   * may have kept it. Without effect when it is over already. `vault_locked` and alarms of the
   * keyring come after it: it is revoked then, and the document does not say so.
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
 * `hidden`: the sealed document names it and the service does not. `not_revoked_here`: the service
 * says that it is revoked, the document does not. `still_served`: revoked by the document, and the
 * service still serves it. `changed`: another version, date or ticket than was signed. `unknown`:
 * the service names it, the document does not.
 */
export type ShareDiscrepancy = "hidden" | "not_revoked_here" | "still_served" | "changed" | "unknown";

export interface SecretShare extends ShareSummary {
  readonly person: { readonly userId: string; readonly userName: string } | null;
  readonly hasPassword: boolean;
  readonly hasPicture: boolean;
  /** Counted by the service. */
  readonly views: number;
  readonly maxViews: number | null;
  readonly lastOpenedAt: string | null;
  readonly state: "live" | "expired" | "used_up" | "revoked" | "locked" | "ended";
  /** Whether the secret has a later version than it shows. */
  readonly outdated: boolean;
  readonly discrepancy: ShareDiscrepancy | null;
}

/**
 * How well this account knows somebody's keys. `changed`: other keys than those pinned, another
 * account behind the name, or another name for the account: nothing is sealed or opened before the
 * person decides.
 */
export type TrustLevel = "unknown" | "known" | "compared" | "changed";

/** An account under a name, by the keys that were shown. */
export interface PersonKeys {
  readonly userId: string;
  readonly userName: string;
  /** Eight words of the keys that the directory gives now. */
  readonly safetyWords: readonly string[];
}

export interface PersonRecord extends PersonKeys {
  readonly trust: TrustLevel;
  /** Eight words of what is pinned, where the standing is `changed`. */
  readonly formerSafetyWords: readonly string[] | null;
  /** The name under which the account is pinned, where it is another one. */
  readonly formerName: string | null;
  readonly blocked: boolean;
}

/** People whose keys this account has pinned, in the sealed book. Takes no opener. */
export interface VaultPeople {
  /**
   * The keys of a user name, as the directory gives them now. `not_found` when nobody has that name
   * or has keys yet.
   */
  readonly find: (userName: string, options?: CallOptions) => Promise<PersonRecord>;
  /**
   * By what is pinned: the directory is not asked, for it would learn whom this account knows.
   * {@link find} compares one.
   */
  readonly list: () => Promise<readonly (PersonRecord & { readonly pinnedAt: string })[]>;
  /**
   * Pins the keys that these words stand for, instead of those pinned before. `person_changed` when
   * the directory gives yet others.
   */
  readonly pin: (person: PersonKeys, options?: CallOptions) => Promise<void>;
  /** Whether the words were compared, by another way than this portal. */
  readonly setCompared: (userId: string, compared: boolean) => Promise<void>;
  /**
   * The account, whether its keys are pinned or not; those of a stranger are pinned with it.
   * `person_changed` when the directory gives other ones, `not_found`.
   */
  readonly setBlocked: (person: PersonKeys, blocked: boolean) => Promise<void>;
  /** The words of this account, for others to compare. */
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

/** Who sealed it. `says`: nobody vouches for the name. */
export interface Sender {
  readonly userId: string;
  readonly userName: string;
  readonly trust: "compared" | "known" | "says";
  readonly safetyWords: readonly string[];
}

/**
 * An opened content of somebody else. Plaintext is held by whoever asked; drop it when it is put
 * away.
 */
export interface OpenedContent {
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  /** Bytes of the plain content. */
  readonly size: number;
  /** Null for content too large to be held in memory: {@link save} streams it. */
  readonly content: Uint8Array<ArrayBuffer> | null;
  /** As {@link OpenedSecret.save}. */
  readonly save: OpenedSecret["save"];
  readonly dispose: () => void;
}

export interface OpenedShare extends OpenedContent {
  readonly shareId: string;
  readonly title: string;
  readonly sender: Sender;
}

/** What others shared with this account, by its keys. */
export interface VaultReceived {
  readonly list: (options?: CallOptions & { readonly includeEnded?: boolean }) => Promise<readonly ReceivedShare[]>;
  /**
   * Claims one view and opens it. Without an opener `show_opener_first` where none was shown since
   * load or lock. `person_unknown` for the first thing of somebody whose keys are not pinned,
   * unless `acceptedWords` is their words, which pins them; `person_changed`, `person_blocked`,
   * each with {@link PersonDetails}, before a view is claimed. `share_unavailable`,
   * `decryption_failed`.
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
  /** As the person calls themselves: only the link vouches for it. */
  readonly requesterName: string;
  /** RFC 3339; at most 30 days ahead. */
  readonly expiresAt: string;
  /** Bytes of plain content at most. */
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
  /** Bytes of the sealed answer; null before it came. */
  readonly size: number | null;
  /** As {@link ShareDiscrepancy}. */
  readonly discrepancy: "hidden" | "unknown" | "not_revoked_here" | "still_served" | null;
}

export interface OpenedAnswer extends OpenedContent {
  readonly requestId: string;
  readonly note: string;
  /** Eight words that the provider saw, too. */
  readonly receiptWords: readonly string[];
  readonly createdAt: string;
}

/** What this account asked others for. */
export interface VaultRequests {
  /**
   * `show_opener_first` without an opener where none was shown since load or lock. `limit_reached`
   * with 20 open ones, `no_keyring` before the first secret.
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
   * Only reads. Another answer than the one opened first is refused: `decryption_failed`.
   * `not_found` while none came, `content_gone`.
   */
  readonly open: (requestId: string, opener: OpenerHandle | null, options?: CallOptions) => Promise<OpenedAnswer>;
  /** Marks an answer as collected; its content goes 7 days later. */
  readonly collect: (requestId: string, options?: CallOptions) => Promise<void>;
  /**
   * Revokes an open request, or drops an answer that was collected at once. One whose time is over
   * leaves the list; one that only the service names ends there.
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
  /** Bytes of plain content at most. */
  readonly maxSize: number;
  readonly state: RequestRow["state"];
  /** An answer of this browser that was begun and not finished. */
  readonly unfinishedAnswer: { readonly name: string; readonly size: number; readonly sent: number } | null;
  /**
   * Words of an answer of this browser that was taken, when that was not heard of then; told once.
   */
  readonly receiptWords?: readonly string[];
}

/**
 * What a page opened by a link does. The link key comes from the address to the visitor's worker
 * and never reaches a page; `link_incomplete` when the link had none, or after a reload: the link
 * has to be opened again.
 */
export interface Visitor {
  /** Costs nothing. `share_unavailable`, `link_incomplete`. */
  readonly previewShare: (shareId: string, options?: CallOptions) => Promise<SharePreview>;
  /**
   * Claims one view and opens it. A wrong picture costs none. `wrong_password` (details:
   * `tries_left`), `not_this_picture`, `share_unavailable`, `decryption_failed`.
   */
  readonly openShare: (
    shareId: string,
    credentials: { readonly password: string | null; readonly picture: OpenerHandle | null },
    options?: CallOptions,
  ) => Promise<OpenedShare>;
  /**
   * `request_unavailable`, `link_incomplete`, `decryption_failed` when the request is not what the
   * link's maker sealed.
   */
  readonly previewRequest: (requestId: string, options?: CallOptions) => Promise<RequestPreview>;
  /**
   * Seals an answer to the requester and sends it. Resumes an `unfinishedAnswer` of the same
   * content; another content is `file_changed`, unless `restart` is set. Aborting keeps what was
   * sent, for a day. `receiptWords`: the receipt; with `fromEarlierAnswer` it is of an answer that
   * had left this browser before and was accepted, and nothing of this one was sent.
   * `request_closed` when another answer was first, `payload_too_large`, `conflict` while another
   * tab sends.
   */
  readonly answer: (
    requestId: string,
    provided: ProvidedSecret,
    options?: CallOptions & { readonly restart?: boolean },
  ) => Promise<{ readonly receiptWords: readonly string[]; readonly fromEarlierAnswer?: true }>;
  /** For a share that asks for a picture. */
  readonly PictureField: ComponentType<PictureFieldProps>;
  readonly releaseOpener: (handle: OpenerHandle) => void;
  /** Ends the workers and forgets the link key. */
  readonly close: () => void;
}

/**
 * What a {@link VaultReceived.open} says that stopped at a person. `words` is empty where the
 * directory has no keys of theirs.
 */
export interface PersonDetails extends PersonKeys {
  readonly formerSafetyWords: readonly string[] | null;
  readonly formerName: string | null;
}

/** What a `person_unknown`, `person_changed` or `person_blocked` says; null for another error. */
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
