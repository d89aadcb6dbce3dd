/**
 * Closed list of error codes. The service responds with them (`code` of a problem document), and
 * the portal branches on them. `errors:<code>` is the key of the text that people read.
 */
export const errorCodes = [
  // Any call (specification, section 8).
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
  "service_unavailable", // 502, 503, 504, or no response
  "offline", // this device has no network
  "timed_out",
  "bad_answer", // the response does not match the contract
  "cancelled", // cancelled by the person or the page
  "unknown",

  // Sign-in and token exchange.
  "login_failed",
  "login_required",
  "consent_required",
  "interaction_required",
  "account_selection_required",
  "storage_refused", // the browser refuses storage to this page, so that no sign-in can be finished
  "popup_blocked", // the browser blocked the window for signing in
  "token_invalid",
  "token_expired",
  "account_changed", // the service returns another account for this person than this device knows
  "vendor_unknown",
  "vendor_disabled",

  // Secrets and the keyring, from the service.
  "no_keyring",
  "id_taken",
  "version_conflict",
  "state_conflict",
  "keyring_change_invalid",
  "quota_exceeded",
  "too_many_versions", // no former version is old enough to be dropped; some have to be removed first
  "digest_mismatch", // the bytes do not match the announced digest; they were discarded
  "upload_incomplete", // parts are missing; details: `missing`
  "content_gone", // dropped after its time in the trash
  "range_not_satisfiable", // 416

  // Shares and requests, from the service.
  "share_unavailable", // unknown, expired, used up, revoked or ended: one code, so that it tells nothing
  "wrong_password", // the link was right; details: `tries_left`
  "request_unavailable",
  "request_closed", // another answer was first, or the request was revoked
  "limit_reached", // the number of open items is limited

  // The vault, from the device.
  "vault_unavailable",
  "vault_locked",
  "decryption_failed",
  "older_state", // the service returns a state older than this device knows, or a fork
  "list_mismatch", // labels, tickets or counts do not match the signed state
  "keyring_missing", // this device knows the account, but the service says that it has no keyring
  "pending_dropped", // an account key that was never published was discarded
  // a damaged record, or one of another release, which is not replaced
  "device_record_unreadable",
  "openers_changed", // the openers in the book are not those that the account key authenticates
  "show_opener_first", // the operation needs the account key: an opener has to be presented
  "helper_changed",
  "opener_needed",
  "mark_refused", // the person says that the mark of the account that was found is not theirs
  "own_key_changed", // the key directory has another key of this account than this device knows
  "storage_full",
  "upload_dropped", // the service does not know an upload that this device stores
  "publication_not_seen", // the service confirmed a publication that the account does not show
  "file_changed", // an upload was continued with another file
  "link_incomplete", // the link had no key, or was opened too long ago: open it again
  "person_unknown", // the sender's keys are not pinned; details: `words` of those keys
  "person_changed", // the keys differ from the pinned ones; details: `words`, `former_words`
  "person_blocked",
  "not_in_trash", // only secrets in the trash can be removed for good

  // Pictures, from the device.
  "picture_unreadable",
  "picture_too_large",
  "picture_too_plain",
  "picture_needs_passphrase",
  "passphrase_too_weak", // a new passphrase or a link's password; details: `least`, the level that is accepted
  "picture_resembles_another",
  "picture_has_no_passphrase", // a passphrase was given, but the picture is an opener without one
  "picture_is_opener", // the picture of a share must not be one that opens the account
  "picture_needed", // no picture was presented, or its handle was released
  "not_this_picture",
  "not_this_picture_or_passphrase",
  "plain_helper_refused", // a passphrase was given, yet a helper without one fits: the helper may be forged

  // Other openers, from the device.
  "recovery_code_unreadable", // not 24 words of the list, or the checksum is wrong
  "not_this_recovery_code",
  "not_this_passkey",
  "passkey_without_prf", // this device or browser creates passkeys without the PRF extension, which open nothing here
  "passkey_rejected", // the browser's answer names another request, origin or page
  "device_code_unreadable", // not 12 words of the list, or the checksum is wrong
  "device_link_unavailable", // no device shows this code, or its 5 minutes have passed
  "device_link_own", // this same browser shows the code
  "device_link_expired", // no device approved the code in time
  "histories_differ", // the service showed the other device another history of the account
  "last_opener", // it cannot be removed: at least one picture has to stay, or secrets would be lost

  // Remotes and deployments, from the host.
  "remote_unreachable", // its server does not respond, or reports a problem of its own
  "remote_timed_out",
  "remote_file_missing", // its server says that a file of the release does not exist
  "remote_altered", // a file of the release does not have the signed hash
  "remote_texts_missing",
  "remote_incompatible",
  "remote_refused",
  "remote_crashed", // its code threw, while it was imported or later
  "remote_disabled", // its operators revoked it during this session
  "remote_left_out", // the person started the page without it
  "deployment_unreachable",
  "deployment_refused",
  "deployment_expired",
  "deployment_older",
  // this device's clock differs from the service's; details: `device`, `service`, in milliseconds
  // since 1970
  "clock_wrong",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

const knownCodes: ReadonlySet<string> = new Set(errorCodes);

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && knownCodes.has(value);
}
