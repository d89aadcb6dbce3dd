/**
 * Limits that forms, client and service all apply. Sizes are in bytes unless the name says
 * otherwise.
 */

export const API_VERSION = "0.1.0";

/** Maximum size of sealed content in one call. */
export const maxSmallSealedBytes = 256 * 1024;
/**
 * Maximum size of plain content in one call. Padding, header and tags need the rest. Larger content
 * is uploaded in parts.
 */
export const maxSmallContentBytes = maxSmallSealedBytes - 4 * 1024;
/**
 * Maximum size of a JSON body. It fits a small secret as base64url with its label, ticket and
 * keyring change, all at their limits.
 */
export const maxJsonBodyBytes = 4 * 1024 * 1024;

/** New secrets in one call of an import. */
export const maxBatchSecrets = 100;

export const maxTitleLength = 200; // characters
export const maxTags = 32;
export const maxTagLength = 40; // characters
export const maxFileNameLength = 255; // characters
export const maxOpeners = 32;

/** Limits of a record, whose JSON must also fit one call. Lengths are in UTF-16 code units. */
export const maxRecordFields = 200;
export const maxRecordLabelLength = 200;
export const maxRecordValueLength = 64 * 1024;

export const maxLabelLength = 24 * 1024; // characters of a compact JWE
export const maxTicketBytes = 64 * 1024;
export const maxSlotBytes = 16 * 1024;
export const maxStateLength = 4 * 1024; // characters of a compact JWE
export const maxBookLength = 512 * 1024; // characters of a compact JWE
export const helperBytes = 454;

/**
 * Maximum size of a file before sealing, and after it. Sealing adds an age header, and a tag of 16
 * bytes per 64 KiB.
 */
export const maxFileBytes = 5 * 1024 ** 3;
export const maxSealedBytes = maxFileBytes + 16 * (maxFileBytes / 65_536) + 8 * 1024;
export const minPartBytes = 5 * 1024 ** 2; // the last part may be smaller
export const maxParts = Math.ceil(maxSealedBytes / minPartBytes);
export const maxPartBytes = 64 * 1024 ** 2;
export const defaultPartBytes = 8 * 1024 ** 2;
/** An unfinished upload is deleted this long after its last part. */
export const uploadExpiryHours = 24;
export const maxOpenUploads = 32; // per account

/**
 * Maximum size of plain content that is re-sealed with a new identity when its secret loses an
 * opener. Larger content keeps its identity.
 */
export const maxResealedContentBytes = 1024 ** 2;
/** Maximum size of such content after sealing, with header and tags, as in a staged row. */
export const maxStagedContentBytes = maxResealedContentBytes + 8 * 1024;
/** Rows in one call that adds to a stage. */
export const maxStagedRows = 100;
/** Secrets of a page of a stage, each with all its versions: below a megabyte. */
export const maxStagePageSecrets = 100;
/** A stage is deleted this long after its last row. */
export const stageExpiryHours = 24;

export const maxListPageSize = 1_000;
/** Rows of a page by default. */
export const defaultListPageSize = 100;
/** Ids of purged secrets in one response; a device that missed more refetches the whole list. */
export const maxPurgedIds = 2_000;
/**
 * States in one response, which has at most one megabyte. A device that missed more makes another
 * call.
 */
export const maxStatesPageSize = 256;
/** Former versions of a secret whose content and ticket are kept. */
export const maxFormerVersions = 50;
/** A former version is kept at least this long after it was replaced. */
export const formerVersionRetentionDays = 30;
export const trashRetentionDays = 30;
/** A mail warns this long before trashed content is deleted. */
export const trashWarningDays = 7;
/** Waiting time of an account reset. Any device of the account can object during this time. */
export const accountResetWaitDays = 7;
/** A reset that is ready but not completed lapses after this time. */
export const accountResetLapseDays = 30;
/**
 * The service stores an account's earlier sealed data this long after a reset. The account can no
 * longer access the data.
 */
export const resetDataRetentionDays = 30;
export const freshSignInMinutes = 5;
export const defaultQuotaBytes = 10 * 1024 ** 3;

/** ASCII only, so that no two names look alike in different scripts. Compared without case. */
export const userNamePattern = /^[A-Za-z0-9._-]{3,32}$/;

/** Plain content inside a kit's file; larger content is attached. */
export const maxInlineKitContentBytes = 1024 ** 2;
/** Total content inside a kit's file. Further content is attached. */
export const maxKitTotalContentBytes = 8 * 1024 ** 2;
export const maxKitSecrets = 64;
/**
 * Maximum size of a kit's file: its program, a decoder and all contents as base64. Larger files are
 * refused.
 */
export const maxKitBytes = 16 * 1024 ** 2;
export const maxKitNoteLength = 200; // characters
/** Newest kits that a secret's label lists. */
export const maxKitsPerSecret = 16;

export const maxImageRecordReadsPerHour = 60;
export const emailValidationHours = 24;

/**
 * Lifetime of a mailbox between two devices. The second limit is in characters of a compact JWE in
 * the mailbox.
 */
export const deviceLinkLifetimeMinutes = 5;
export const maxDeviceLinkLength = 16 * 1024;

/** Lifetime of a share. A vendor may allow a longer one. */
export const shareLifetimeDays = { default: 7, maximum: 30 } as const;
export const maxShareViews = 1_000;
export const maxWrongPasswords = 10;
/**
 * Time in which a claimed view may be requested again and its content fetched. Each fetch restarts
 * the time.
 */
export const claimLifetimeMinutes = 10;
/** Shares of an account that are open at the same time. */
export const maxLiveShares = 1_000;
export const maxReportLength = 1_000; // characters

export const requestLifetimeDays = { default: 7, maximum: 30 } as const;
export const maxOpenRequests = 20;
export const maxRequestDocumentLength = 32 * 1024; // characters of a compact JWE
export const maxRequestTitleLength = 200; // characters
export const maxRequestNoteLength = 2_000; // characters
/** Unfinished answers to a request at the same time. */
export const maxOpenAnswers = 2;
export const collectedAnswerRetentionDays = 7;

/** Limit of a call that changes a password; the identity provider has its own. */
export const maxPasswordLength = 1_024; // characters
export const maxFeedbackLength = 4_000; // characters
/** Newest invoices of an account on its billing page. */
export const maxInvoices = 200;
export const activityRetentionDays = 90;
export const maxActivityPageSize = 100;
/** Days after a session was last seen. */
export const sessionRetentionDays = 30;
/** Sign-ins in an account's list, newest first. */
export const maxListedSignIns = 200;
/** Keys that an identity provider publishes at the same time. */
export const maxProviderKeys = 100;
/** Days after an ended share or request expires. By then the vault no longer expects the row. */
export const endedRowRetentionDays = 90;
/** An account is deleted this long after the request, unless it is cancelled. */
export const deletionGraceDays = 14;
/** A mail warns this long before a share expires. */
export const shareWarningHours = 24;
