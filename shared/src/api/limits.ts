/**
 * The limits that form, client and service all keep. Sizes in bytes unless the name says otherwise.
 */

export const API_VERSION = "0.1.0";

/** Sealed content of a secret that goes in one call. */
export const maxSmallSealedBytes = 256 * 1024;
/**
 * Plain content that still fits once it is padded and has header and tags; anything larger goes in
 * parts.
 */
export const maxSmallContentBytes = maxSmallSealedBytes - 4 * 1024;
/**
 * A whole JSON body: a small secret as base64url beside label, ticket and a keyring change with all
 * its parts at their limits.
 */
export const maxJsonBodyBytes = 4 * 1024 * 1024;

/** New secrets of one call, for imports. Their body has the limit of any other. */
export const maxBatchSecrets = 100;

export const maxTitleLength = 200; // characters
export const maxTags = 32;
export const maxTagLength = 40; // characters
export const maxFileNameLength = 255; // characters
export const maxOpeners = 32;

export const maxLabelLength = 24 * 1024; // characters of a compact JWE
export const maxTicketBytes = 64 * 1024;
export const maxSlotBytes = 16 * 1024;
export const maxStateLength = 4 * 1024; // characters of a compact JWE
export const maxBookLength = 512 * 1024; // characters of a compact JWE
export const helperBytes = 454;

/**
 * A file before it is sealed, and after: an age header and a tag of 16 bytes for each 64 KiB come
 * to it.
 */
export const maxFileBytes = 5 * 1024 ** 3;
export const maxSealedBytes = maxFileBytes + 16 * (maxFileBytes / 65_536) + 8 * 1024;
export const minPartBytes = 5 * 1024 ** 2; // a last or only part may be smaller
export const maxPartBytes = 64 * 1024 ** 2;
export const defaultPartBytes = 8 * 1024 ** 2;
/** An upload that is not finished is dropped so long after its last part. */
export const uploadExpiryHours = 24;
export const maxOpenUploads = 32; // of one account at a time

/**
 * Plain content that takes another identity where its secret loses a way to open; a larger one
 * keeps its own.
 */
export const maxResealedContentBytes = 1024 ** 2;
/** The same sealed, as it stands in a staged row: header and tags come to it. */
export const maxStagedContentBytes = maxResealedContentBytes + 8 * 1024;
/** Rows of one call that stages; the body has its own limit. */
export const maxStagedRows = 100;
/** A stage is dropped so long after its last row. */
export const stageExpiryHours = 24;

export const maxListPageSize = 1_000;
/**
 * Ids in one answer of secrets that went for good; a device that missed more reads the list anew.
 */
export const maxPurgedIds = 2_000;
/** States of one answer: a megabyte of the longest. A device that missed more asks again. */
export const maxStatesPageSize = 256;
/** Former versions of a secret that are kept with content and ticket. */
export const maxFormerVersions = 50;
/** So long after it was replaced, no version gives way to a newer one. */
export const formerVersionRetentionDays = 30;
export const trashRetentionDays = 30;
/** So long before a trashed content is dropped, a mail says so. */
export const trashWarningDays = 7;
/**
 * An account can be started anew so long after it was asked for, unless a device objects meanwhile.
 */
export const accountResetWaitDays = 7;
/** What was ready for so long and not begun has to be asked for again. */
export const accountResetLapseDays = 30;
/**
 * What an account had before it was started anew is kept by the service for so long, and shown
 * nowhere.
 */
export const resetDataRetentionDays = 30;
/** A sign-in counts as fresh for so long. */
export const freshSignInMinutes = 5;
export const defaultQuotaBytes = 10 * 1024 ** 3;

/** ASCII alone, so that no other script has a letter that looks the same. Compared without case. */
export const userNamePattern = /^[A-Za-z0-9._-]{3,32}$/;

/** Plain content that stands inside a kit; what is larger lies beside it. */
export const maxInlineKitContentBytes = 1024 ** 2;
/** All contents inside one kit; what does not fit in any more lies beside it. */
export const maxKitTotalContentBytes = 8 * 1024 ** 2;
export const maxKitSecrets = 64;
/**
 * A whole kit: its program, a decoder and all contents inside as base64. What is larger is none.
 */
export const maxKitBytes = 16 * 1024 ** 2;
export const maxKitNoteLength = 200; // characters
/** Kits that the label of a secret names, the newest. */
export const maxKitsPerSecret = 16;

export const maxImageRecordReadsPerHour = 60;
export const emailValidationHours = 24;

/**
 * A mailbox between two devices is gone after so long; what either puts in is a compact JWE of so
 * many characters at most.
 */
export const deviceLinkLifetimeMinutes = 5;
export const maxDeviceLinkLength = 16 * 1024;

/** A share ends by itself after so long; a vendor may allow more. */
export const shareLifetimeDays = { default: 7, maximum: 30 } as const;
export const maxShareViews = 1_000;
/** A share closes after so many wrong passwords. */
export const maxWrongPasswords = 10;
/**
 * One opening may be asked for again, and its content fetched, for so long; each fetch begins that
 * time anew.
 */
export const claimLifetimeMinutes = 10;
/** Shares of one account that can be opened at a time. */
export const maxLiveShares = 1_000;
export const maxReportLength = 1_000; // characters

/** A request for a secret ends by itself after so long. */
export const requestLifetimeDays = { default: 7, maximum: 30 } as const;
export const maxOpenRequests = 20;
export const maxRequestDocumentLength = 32 * 1024; // characters of a compact JWE
export const maxRequestTitleLength = 200; // characters
export const maxRequestNoteLength = 2_000; // characters
/** Answers that were begun and not finished, of one request at a time. */
export const maxOpenAnswers = 2;
/** A collected answer is dropped after so long. */
export const collectedAnswerRetentionDays = 7;

/**
 * What a call to change a password carries at most; the identity provider has a limit of its own.
 */
export const maxPasswordLength = 1_024; // characters
export const maxFeedbackLength = 4_000; // characters
/** The newest ones of an account that its billing page shows. */
export const maxInvoices = 200;
/** What happened in an account is noted for so long. */
export const activityRetentionDays = 90;
export const maxActivityPageSize = 100;
/** A sign-in is listed for so long after it was last seen. */
export const sessionRetentionDays = 30;
/** An account goes so long after its deletion was asked for, unless it is called off. */
export const deletionGraceDays = 14;
/** So long before a share ends by its time, a mail says so. */
export const shareWarningHours = 24;
