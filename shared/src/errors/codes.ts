/**
 * Every way in which something can fail, as one closed list. The service answers with these words
 * (the `code` of a problem document), the portal branches on them, and `errors:<code>` is the
 * sentence that a person reads.
 */
export const errorCodes = [
  // What every call can answer (specification, section 8).
  "bad_request", // 400
  "unauthorized", // 401
  "forbidden", // 403
  "not_found", // 404
  "conflict", // 409
  "payload_too_large", // 413
  "unsupported_media_type", // 415
  "validation_error", // 422
  "too_many_requests", // 429
  "internal_error", // 500
  "service_unavailable", // 502, 503, 504, or nothing answered
  "offline", // this device has no network
  "timed_out",
  "bad_answer", // the service answered something that the contract does not know
  "cancelled", // the person, or the page, gave up
  "unknown",

  // Sign-in and token exchange.
  "login_failed",
  "login_required",
  "consent_required",
  "interaction_required",
  "account_selection_required",
  "popup_blocked", // the browser opened no window to sign in
  "token_invalid",
  "token_expired",
  "account_changed", // the service names another account for this person than this device knows
  "vendor_unknown",
  "vendor_disabled",

  // Secrets and the keyring, answered by the service.
  "no_keyring",
  "id_taken",
  "version_conflict",
  "state_conflict",
  "keyring_change_invalid",
  "quota_exceeded",
  "too_many_versions", // no former version of the secret is old enough to give way; some have to be removed first
  "digest_mismatch", // bytes arrived that are not those that were announced; they were not kept
  "upload_incomplete", // parts are missing; `missing` says which
  "content_gone", // dropped after its time in the trash
  "range_not_satisfiable", // 416

  // Shares and requests, answered by the service.
  "share_unavailable", // unknown, expired, used up, revoked or ended: one answer for all
  "wrong_password", // after a right link; `tries_left` says how many are left
  "request_unavailable",
  "request_closed", // another answer was first, or the request was revoked meanwhile
  "limit_reached", // so many can be open at a time

  // The vault, answered by the device.
  "vault_unavailable",
  "vault_locked",
  "decryption_failed",
  "older_state", // the service gives a state that this device knows to be old, or a fork
  "list_mismatch", // labels, tickets or counts do not fit the state
  "keyring_missing", // labels or an account on this device exist, but the service says that there is no keyring
  "pending_dropped", // an account key that was never published had to be dropped
  // another release, or a damage, left a record that this one cannot read: it is not replaced
  "device_record_unreadable",
  "openers_changed", // the book names other openers than the account key vouches for
  "show_opener_first", // what was asked needs the account key: an opener has to be shown
  "helper_changed",
  "opener_needed",
  "own_key_changed", // the key directory says something else of this account than this device knows
  "storage_full",
  "upload_dropped", // the service does not know an upload that this device keeps
  "publication_not_seen", // the service says that something is published, and the account does not show it
  "file_changed", // an upload was to go on with another file than the one that it began with
  "link_incomplete", // the link had no key, or was opened too long ago: it has to be opened again
  "person_unknown", // the first thing of somebody whose keys are not pinned; `words` says which keys they are
  "person_changed", // other keys than those pinned: `words`, `former_words`
  "person_blocked",
  "not_in_trash", // a secret was to be removed for good that is not, or no longer, in the trash

  // Pictures, answered by the device.
  "picture_unreadable",
  "picture_too_large",
  "picture_too_plain",
  "picture_needs_passphrase",
  "picture_resembles_another",
  "picture_has_no_passphrase", // one was typed for a picture that is an opener without any
  "picture_is_opener", // a share's own picture has to be another than those that open the account
  "picture_needed", // none was shown, or it was put away meanwhile
  "not_this_picture",
  "not_this_picture_or_passphrase",
  "plain_helper_refused", // a passphrase was given, yet a helper without one fits: perhaps not ours

  // Other openers, answered by the device.
  "recovery_code_unreadable", // not 24 words of the list, or their checksum does not fit
  "not_this_recovery_code",
  "not_this_passkey",
  "passkey_without_prf", // this device or browser makes passkeys that open nothing here
  "device_code_unreadable", // not 12 words of the list, or their checksum does not fit
  "device_link_unavailable", // no device shows this code, or its 5 minutes are over
  "device_link_own", // the code is shown by this same browser
  "device_link_expired", // nobody answered the code that this device showed
  "histories_differ", // the other device was shown another history of the account
  "last_opener", // it cannot be removed: at least one picture has to stay

  // Remotes and deployments, answered by the host.
  "remote_unreachable",
  "remote_timed_out",
  "remote_incompatible",
  "remote_refused",
  "remote_crashed",
  "remote_disabled", // its operators switched it off while this session was open
  "deployment_unreachable",
  "deployment_refused",
  "deployment_expired",
  "deployment_older",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

const knownCodes: ReadonlySet<string> = new Set(errorCodes);

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && knownCodes.has(value);
}
