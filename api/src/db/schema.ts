import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  customType,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";

/*
 * Every table of an account starts its primary key with the account's id, so that a distributed
 * database can keep an account's rows together. `identities`, `user_names` and `public_ids` are
 * directories that lead to accounts, with their own keys; `rate_limits` and `measurements` belong
 * to no account. Sealed documents are opaque text or bytes here.
 */

const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => "bytea" });
const counterColumn = (name: string) => bigint(name, { mode: "number" });
const timestampColumn = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

export const accounts = pgTable(
  "accounts",
  {
    id: uuid("id").primaryKey(),
    vendorId: text("vendor_id").notNull(),
    userName: text("user_name").notNull(),
    /** The identity provider's user name at the last token exchange. */
    providerUsername: text("username").notNull(),
    contactEmail: text("contact_email"),
    /** The address of the identity provider that was adopted last; null for none. */
    providerEmail: text("provider_email"),
    contactEmailVerified: boolean("contact_email_verified").notNull().default(false),
    plan: text("plan").notNull().default("free"),
    /**
     * Language of mails: the caller's at the last call that could cause one; null before the first.
     */
    language: text("language", { enum: ["en", "es"] }),
    /**
     * Bytes of all sealed data: contents of all versions, uploads under way at their full size,
     * labels, tickets, the keyring, its states and former parts. Updated in the transaction of each
     * change.
     */
    storageUsed: counterColumn("storage_used").notNull().default(0),
    /** Incremented with every change of a row in `secrets`: for `since` and the list's ETag. */
    changes: counterColumn("changes").notNull().default(0),
    /** When the last mail about a secret in the trash was queued. */
    trashMailAt: timestampColumn("trash_mail_at"),
    /** When the next check of a copy is due, as a device reported; null for none. */
    copyCheckDueAt: timestampColumn("rehearsal_due_at"),
    /** Due time for which the last reminder was sent: each due time gets one mail. */
    copyCheckMailFor: timestampColumn("rehearsal_mail_for"),
    /** Topics without mails (`mailTopics` in shared/api). */
    mutedMailTopics: text("mails_off")
      .array()
      .notNull()
      .default(sql`'{}'::text[]`),
    telemetryOff: boolean("telemetry_off").notNull().default(false),
    /**
     * When the account was locked, by the operator (users/account-command.ts) or for its deletion.
     * A locked account gets no session.
     */
    lockedAt: timestampColumn("locked_at"),
    /** When the account is deleted; null without a request. */
    deletionDueAt: timestampColumn("deletion_due_at"),
    createdAt: timestampColumn("created_at").notNull().defaultNow(),
  },
  (table) => [
    index("accounts_by_rehearsal")
      .on(table.copyCheckDueAt)
      .where(sql`rehearsal_due_at is not null`),
    index("accounts_by_deletion")
      .on(table.deletionDueAt)
      .where(sql`deletion_due_at is not null`),
  ],
);

/** An account is identified by vendor, issuer and subject, never by e-mail. */
export const identities = pgTable(
  "identities",
  {
    vendorId: text("vendor_id").notNull(),
    issuer: text("issuer").notNull(),
    subject: text("subject").notNull(),
    accountId: uuid("account_id").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.vendorId, table.issuer, table.subject] }),
    index("identities_by_account").on(table.accountId),
  ],
);

/** User names in use or released lately. `nameKey`: see accounts/user-names.ts. */
export const userNames = pgTable(
  "user_names",
  {
    vendorId: text("vendor_id").notNull(),
    nameKey: text("name_key").notNull(),
    accountId: uuid("account_id").notNull(),
    /** When the name was released; from then only that account may take it. Null while in use. */
    releasedAt: timestampColumn("released_at"),
  },
  (table) => [
    primaryKey({ columns: [table.vendorId, table.nameKey] }),
    index("user_names_released")
      .on(table.releasedAt)
      .where(sql`released_at is not null`),
  ],
);

/**
 * Ids that people outside the account hold, and the account that owns each
 * (public-ids/directory.ts).
 */
export const publicIds = pgTable(
  "public_ids",
  {
    /** 128 random bits in base64url. */
    publicId: text("public_id").primaryKey(),
    kind: text("kind", { enum: ["share", "request", "mailbox"] }).notNull(),
    accountId: uuid("account_id").notNull(),
  },
  (table) => [
    check("public_id_is_128_bits", sql`${table.publicId} ~ '^[A-Za-z0-9_-]{22}$'`),
    index("public_ids_of_account").on(table.accountId),
  ],
);

export const sessions = pgTable(
  "sessions",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    /**
     * The provider's session, where the token names one: signing out of one of its product sessions
     * revokes all of them.
     */
    providerSessionId: text("provider_session"),
    /** Browser and system, and the shortened IP address, at the exchange; null if unknown. */
    device: text("device"),
    address: text("address"),
    /** When the person signed in at the provider; null if unknown. */
    signedInAt: timestampColumn("signed_in_at"),
    createdAt: timestampColumn("created_at").notNull().defaultNow(),
    expiresAt: timestampColumn("expires_at").notNull(),
    revokedAt: timestampColumn("revoked_at"),
    /**
     * When the provider last confirmed the person, by the database's clock: with the access token,
     * or when it was asked (sessions/person-check.ts).
     */
    personCheckedAt: timestampColumn("person_checked_at").notNull().defaultNow(),
    /** When a process began to ask the provider; null when none does. */
    personCheckStartedAt: timestampColumn("person_check_started_at"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("sessions_by_provider").on(table.providerSessionId, table.accountId),
    index("sessions_by_end").on(table.expiresAt),
  ],
);

export const secrets = pgTable(
  "secrets",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    version: integer("version").notNull(),
    favorite: boolean("favorite").notNull().default(false),
    label: text("label").notNull(),
    /** Bytes of the current version's sealed content. */
    size: counterColumn("size").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
    updatedAt: timestampColumn("updated_at").notNull(),
    deletedAt: timestampColumn("deleted_at"),
    /** When the author key confirmed it: the 30 days begin. Null again after a restore. */
    trashConfirmedAt: timestampColumn("trash_confirmed_at"),
    /**
     * When the mail about the coming removal of the content was queued, and when the content was
     * removed. Both null again after a restore.
     */
    dropWarnedAt: timestampColumn("drop_warned_at"),
    droppedAt: timestampColumn("dropped_at"),
    /** Value of `accounts.changes` at the row's last change. */
    changeNumber: counterColumn("change").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("secrets_by_change").on(table.accountId, table.changeNumber),
    index("secrets_in_trash")
      .on(table.trashConfirmedAt)
      .where(sql`${table.trashConfirmedAt} is not null and ${table.droppedAt} is null`),
    check("version_begins_at_1", sql`${table.version} >= 1`),
  ],
);

export const secretVersions = pgTable(
  "secret_versions",
  {
    accountId: uuid("account_id").notNull(),
    secretId: uuid("secret_id").notNull(),
    version: integer("version").notNull(),
    /** Null once dropped. */
    ticket: bytea("ticket"),
    /** Of the last ticket. */
    ticketSha256: bytea("ticket_sha256").notNull(),
    contentSha256: bytea("content_sha256").notNull(),
    size: counterColumn("size").notNull(),
    /** Bytes of each object but the last. */
    partSize: counterColumn("part_size").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
    /**
     * When content and ticket were dropped. The row stays as long as the secret: labels commit to
     * the digest of every version.
     */
    droppedAt: timestampColumn("dropped_at"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.secretId, table.version] })],
);

/** The objects of a version's sealed content; `part` starts at 1. */
export const versionObjects = pgTable(
  "version_objects",
  {
    accountId: uuid("account_id").notNull(),
    secretId: uuid("secret_id").notNull(),
    version: integer("version").notNull(),
    part: integer("part").notNull(),
    objectKey: text("object_key").notNull(),
    /** Of the object's bytes; null for parts older than this column. */
    sha256: bytea("sha256"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.secretId, table.version, table.part] })],
);

/**
 * Uploads under way. Published ones stay for a day, so that a repeated finish gets its response.
 */
export const uploads = pgTable(
  "uploads",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    secretId: uuid("secret_id").notNull(),
    /** Null for a new secret. */
    baseVersion: integer("base_version"),
    size: counterColumn("size").notNull(),
    partSize: counterColumn("part_size").notNull(),
    expiresAt: timestampColumn("expires_at").notNull(),
    /** Of the whole content, once all parts were received and read. */
    contentSha256: bytea("content_sha256"),
    /** The published version and the call that published it; null before. */
    publishedVersion: integer("published_version"),
    publishedStateRev: counterColumn("published_state_rev"),
    publishedCallSha256: bytea("published_call_sha256"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] }), index("uploads_by_end").on(table.expiresAt)],
);

/** Parts of uploads and answers; `uploadId` is the id of either. */
export const uploadParts = pgTable(
  "upload_parts",
  {
    accountId: uuid("account_id").notNull(),
    uploadId: uuid("upload_id").notNull(),
    part: integer("part").notNull(),
    sha256: bytea("sha256").notNull(),
    objectKey: text("object_key").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.uploadId, table.part] })],
);

/**
 * A row for each link, and for each recipient of a share. It refers to one version, whose content
 * is not copied.
 */
export const shares = pgTable(
  "shares",
  {
    accountId: uuid("account_id").notNull(),
    shareId: text("share_id").notNull(),
    secretId: uuid("secret_id").notNull(),
    version: integer("version").notNull(),
    audience: text("audience", { enum: ["public", "signed_in", "person"] }).notNull(),
    /** Set for a share with a person. */
    recipientId: uuid("recipient_id"),
    /** Null once the share ended for good. */
    ticket: bytea("ticket"),
    ticketSha256: bytea("ticket_sha256").notNull(),
    /** Set for a link. */
    linkAuthSha256: bytea("link_auth_sha256"),
    passAuthSha256: bytea("pass_auth_sha256"),
    hasPassword: boolean("password").notNull(),
    hasPicture: boolean("picture").notNull(),
    /** Dropped with the ticket. */
    shareHelper: bytea("share_helper"),
    expiresAt: timestampColumn("expires_at").notNull(),
    /** Null: no limit. */
    maxViews: integer("max_views"),
    views: integer("views").notNull().default(0),
    wrongPasswords: integer("wrong_passwords").notNull().default(0),
    notify: boolean("notify").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
    lastOpenedAt: timestampColumn("last_opened_at"),
    /** When the mail about the coming expiry was queued. */
    expiryMailAt: timestampColumn("end_mail_at"),
    revokedAt: timestampColumn("revoked_at"),
    /** When the secret or its version was removed. */
    endedAt: timestampColumn("ended_at"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.shareId] }),
    index("shares_of_secret").on(table.accountId, table.secretId, table.createdAt, table.shareId),
    index("shares_with_ticket")
      .on(table.expiresAt)
      .where(sql`ticket is not null`),
    index("shares_without_ticket")
      .on(table.expiresAt)
      .where(sql`ticket is null`),
  ],
);

/**
 * A claimed view, kept as long as its `claim_id` may repeat the call. Belongs to the share's owner.
 */
export const shareClaims = pgTable(
  "share_claims",
  {
    accountId: uuid("account_id").notNull(),
    shareId: text("share_id").notNull(),
    claimId: text("claim_id").notNull(),
    /** Null for an anonymous visitor. */
    openedByAccountId: uuid("opened_by"),
    claimedAt: timestampColumn("claimed_at").notNull(),
    /** When the view was claimed or last downloaded from. */
    usedAt: timestampColumn("used_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.shareId, table.claimId] }),
    index("share_claims_by_use").on(table.usedAt),
  ],
);

/**
 * Shares that a person received, or opened by a link for signed-in people. Belongs to the
 * recipient.
 */
export const shareRecipients = pgTable(
  "share_recipients",
  {
    accountId: uuid("account_id").notNull(),
    shareId: text("share_id").notNull(),
    /** The share's account. */
    ownerId: uuid("owner_id").notNull(),
    addedAt: timestampColumn("added_at").notNull(),
    openedAt: timestampColumn("opened_at"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.shareId] }),
    index("share_recipients_by_time").on(table.accountId, table.addedAt, table.shareId),
    index("share_recipients_by_age").on(table.addedAt),
  ],
);

/** Reports of shares to the operator. Belongs to the share's owner. */
export const shareReports = pgTable(
  "share_reports",
  {
    accountId: uuid("account_id").notNull(),
    shareId: text("share_id").notNull(),
    id: uuid("id").notNull(),
    reason: text("reason", { enum: ["phishing", "unwanted", "illegal", "other"] }).notNull(),
    message: text("message"),
    createdAt: timestampColumn("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.shareId, table.id] })],
);

/** Feedback to the operator. */
export const feedback = pgTable(
  "feedback",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    /** 1 to 5. */
    rating: integer("rating"),
    message: text("message").notNull(),
    page: text("page").notNull(),
    appVersion: text("app_version").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] }), index("feedback_by_time").on(table.createdAt)],
);

/** Requests for secrets. */
export const requests = pgTable(
  "requests",
  {
    accountId: uuid("account_id").notNull(),
    requestId: text("request_id").notNull(),
    /** Null once the request ended for good. */
    document: text("document"),
    linkAuthSha256: bytea("link_auth_sha256").notNull(),
    maxSize: counterColumn("max_size").notNull(),
    notify: boolean("notify").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
    expiresAt: timestampColumn("expires_at").notNull(),
    revokedAt: timestampColumn("revoked_at"),
    providedAt: timestampColumn("provided_at"),
    collectedAt: timestampColumn("collected_at"),
    /** The first finished answer and its ticket; null before, and once the content was dropped. */
    answerId: uuid("answer_id"),
    ticket: bytea("ticket"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.requestId] }),
    index("requests_by_time").on(table.accountId, table.createdAt, table.requestId),
    index("requests_collected")
      .on(table.collectedAt)
      .where(sql`answer_id is not null`),
    index("requests_with_document")
      .on(table.expiresAt)
      .where(sql`document is not null`),
    index("requests_without_content")
      .on(table.expiresAt)
      .where(sql`document is null and answer_id is null`),
  ],
);

/** Answers under way to a request, and the finished one. Their parts are in `upload_parts`. */
export const answers = pgTable(
  "answers",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    requestId: text("request_id").notNull(),
    size: counterColumn("size").notNull(),
    partSize: counterColumn("part_size").notNull(),
    /** Null for the finished one: it stays with its request. */
    expiresAt: timestampColumn("expires_at"),
    /** Of the whole content, once all parts were received and read. */
    contentSha256: bytea("content_sha256"),
    /** SHA-256 of the finishing call; null before. */
    finishSha256: bytea("finish_sha256"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("answers_of_request").on(table.accountId, table.requestId),
    index("answers_by_end").on(table.expiresAt),
  ],
);

/** Ids of purged secrets: `purged` of the list. They cannot be used again. */
export const purgedSecrets = pgTable(
  "purged_secrets",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    changeNumber: counterColumn("change").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("purged_secrets_by_change").on(table.accountId, table.changeNumber),
  ],
);

export const keyrings = pgTable("keyrings", {
  accountId: uuid("account_id").primaryKey(),
  keyEpoch: counterColumn("key_epoch").notNull(),
  stateRev: counterColumn("state_rev").notNull(),
  state: text("state").notNull(),
  book: text("book").notNull(),
  shares: text("shares").notNull(),
  /** Null before the first request. */
  requests: text("requests"),
  /** JCS of the signed statement. */
  keyStatement: text("key_statement").notNull(),
  /**
   * SHA-256 of the JCS of the last keyring change, `sig` included: a repetition gets the first
   * response.
   */
  lastChangeSha256: bytea("last_change_sha256").notNull(),
  /**
   * SHA-256 of the other members of that call (keyring/apply-change.ts), and the secret that it
   * wrote.
   */
  lastCallSha256: bytea("last_call_sha256").notNull(),
  lastSecretId: uuid("last_secret_id"),
  lastVersion: integer("last_version"),
  updatedAt: timestampColumn("updated_at").notNull(),
});

/** Every state is kept, so that a device can follow `previous` from any state to the newest. */
export const keyringStates = pgTable(
  "keyring_states",
  {
    accountId: uuid("account_id").notNull(),
    stateRev: counterColumn("state_rev").notNull(),
    state: text("state").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.stateRev] })],
);

/**
 * Parts that a keyring change replaced or removed, kept for 30 days. `stateRev` is that of the
 * change.
 */
export const formerKeyringParts = pgTable(
  "keyring_former",
  {
    accountId: uuid("account_id").notNull(),
    stateRev: counterColumn("state_rev").notNull(),
    part: text("part", { enum: ["book", "shares", "requests", "slot", "image_record"] }).notNull(),
    /** The id of the opener or record; empty for book, shares and requests. */
    partId: text("part_id").notNull(),
    value: bytea("value").notNull(),
    endedAt: timestampColumn("ended_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.stateRev, table.part, table.partId] }),
    index("keyring_former_by_end").on(table.endedAt),
  ],
);

/** Re-sealed rows, hidden until a keyring change switches to them. One stage per account. */
export const stages = pgTable(
  "stages",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    expiresAt: timestampColumn("expires_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] }), index("stages_by_end").on(table.expiresAt)],
);

export const stagedRows = pgTable(
  "staged_rows",
  {
    accountId: uuid("account_id").notNull(),
    stageId: uuid("stage_id").notNull(),
    secretId: uuid("secret_id").notNull(),
    version: integer("version").notNull(),
    /** Of the row as sent. */
    rowSha256: bytea("row_sha256").notNull(),
    /** Of the current version only, with its header's epoch. */
    label: text("label"),
    keyEpoch: counterColumn("key_epoch"),
    ticket: bytea("ticket"),
    /** Set where the content was re-sealed too. */
    objectKey: text("object_key"),
    contentSha256: bytea("content_sha256"),
    size: counterColumn("size"),
    /** Digests of the row that this one replaces: when that row changes, this one is outdated. */
    baseLabelSha256: bytea("before_label_sha256"),
    baseTicketSha256: bytea("before_ticket_sha256").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.stageId, table.secretId, table.version] })],
);

export const slots = pgTable(
  "slots",
  {
    accountId: uuid("account_id").notNull(),
    openerId: uuid("opener_id").notNull(),
    kind: text("kind", { enum: ["image", "recovery_code", "passkey"] }).notNull(),
    slot: bytea("slot").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.openerId] })],
);

export const imageRecords = pgTable(
  "image_records",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    /** The helper, sealed with RECORD_KEY (db/record-box.ts). */
    sealedHelper: bytea("sealed_helper").notNull(),
    /** The client's time. */
    createdAt: timestampColumn("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] })],
);

/**
 * Requests to reset the account, and their outcome. A pending one may be completed from `readyAt`
 * on. An ended one stays for 30 days; so does the data from before a completed reset.
 */
export const accountResets = pgTable(
  "start_anews",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    askedAt: timestampColumn("asked_at").notNull(),
    readyAt: timestampColumn("ready_at").notNull(),
    endedAt: timestampColumn("ended_at"),
    outcome: text("ending", { enum: ["objected", "cancelled", "begun"] }),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("start_anews_ended")
      .on(table.endedAt)
      .where(sql`ended_at is not null`),
  ],
);

/** Secrets from before an account reset: their versions and objects stay as long as these rows. */
export const archivedSecrets = pgTable(
  "secrets_set_aside",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    version: integer("version").notNull(),
    label: text("label").notNull(),
    deletedAt: timestampColumn("deleted_at"),
    archivedAt: timestampColumn("set_aside_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("secrets_set_aside_by_time").on(table.archivedAt),
  ],
);

/**
 * Events of an account that its owner can read, kept for 90 days (activity/record-activity.ts).
 * They contain nothing that was typed or sealed.
 */
export const activity = pgTable(
  "activity",
  {
    accountId: uuid("account_id").notNull(),
    /** UUIDv7: sorts by time. */
    id: uuid("id").notNull(),
    /** One of `activityKindsByTopic` in shared/api. */
    kind: text("kind").notNull(),
    count: integer("count").notNull().default(1),
    /** The end of a secret's id. */
    secretIdSuffix: text("secret"),
    device: text("device"),
    address: text("address"),
    at: timestampColumn("at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] }), index("activity_by_time").on(table.at)],
);

/** Messages between two devices of an account, kept for minutes; not counted against the quota. */
export const deviceLinks = pgTable(
  "device_links",
  {
    accountId: uuid("account_id").notNull(),
    linkId: text("link_id").notNull(),
    message: text("message").notNull(),
    /** The sessions that wrote message and answer. */
    filledBySessionId: uuid("filled_by").notNull(),
    answer: text("answer"),
    answeredBySessionId: uuid("answered_by"),
    expiresAt: timestampColumn("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.linkId] }),
    index("device_links_by_end").on(table.expiresAt),
  ],
);

/** Objects without a row, not yet or no longer; deleted when due (objects/orphaned-objects.ts). */
export const orphanedObjects = pgTable(
  "loose_objects",
  {
    accountId: uuid("account_id").notNull(),
    objectKey: text("object_key").notNull(),
    dueAt: timestampColumn("due_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.objectKey] }),
    index("loose_objects_by_due").on(table.dueAt),
  ],
);

/** Queued mails; a row is deleted once its mail is handed over. Texts are rendered at that time. */
export const mails = pgTable(
  "mails",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    kind: text("kind", {
      enum: [
        "openers_changed",
        "address_changed",
        "trashed",
        "drop_warning",
        "validate_email",
        "share_opened",
        "shared_with_you",
        "request_provided",
        "share_reported",
        "share_ended",
        "rehearsal_due",
        "device_linked",
        "anew_asked",
        "anew_ended",
        "anew_begun",
        "password_changed",
        "feedback",
        "share_expiring",
        "new_device",
        "deletion_asked",
        "deletion_cancelled",
      ],
    }).notNull(),
    /** The recipient, if not the account's verified address. */
    address: text("address"),
    /** The reported share. */
    shareId: text("share_id"),
    createdAt: timestampColumn("created_at").notNull(),
    dueAt: timestampColumn("due_at").notNull(),
    attempts: integer("attempts").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] }), index("mails_by_due").on(table.dueAt)],
);

/**
 * The pending validation of an account's contact address. The nonce is derived, not stored
 * (mail/address-nonce.ts).
 */
export const emailValidations = pgTable("email_validations", {
  accountId: uuid("account_id").primaryKey(),
  id: uuid("id").notNull(),
  address: text("address").notNull(),
  createdAt: timestampColumn("created_at").notNull(),
});

/**
 * Calls per fixed window, across processes. `subject` is an account, a keyed digest (of an IP
 * address, a person, a mailbox), or empty.
 */
export const rateLimits = pgTable(
  "rate_limits",
  {
    subject: text("subject").notNull(),
    rule: text("rule").notNull(),
    windowStart: timestampColumn("window_start").notNull(),
    calls: integer("calls").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.subject, table.rule, table.windowStart] }),
    index("rate_limits_by_window").on(table.windowStart),
  ],
);

/**
 * Daily sums (UTC) of pages' measurements and of their CSP violations. Labels are known names or
 * `other`, which bounds the number of rows.
 */
export const measurements = pgTable(
  "measurements",
  {
    remote: text("remote").notNull(),
    day: date("day", { mode: "string" }).notNull(),
    release: text("release").notNull(),
    phase: text("phase").notNull(),
    /** Path pattern; empty if none. */
    route: text("route").notNull(),
    /** Error code or CSP directive; empty for success. */
    code: text("code").notNull(),
    count: counterColumn("count").notNull(),
    /** Number of values per bucket (`telemetryBucketBounds` in shared/api). */
    classes: integer("classes").array().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.remote, table.day, table.release, table.phase, table.route, table.code] }),
    index("measurements_by_day").on(table.day),
  ],
);
