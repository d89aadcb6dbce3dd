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
 * Every table of an account begins its primary key with the account's id, so that a distributed
 * engine can place an account's rows together. `identities`, `user_names` and `public_ids` are
 * directories that lead to an account, each placed by its own key; `rate_limits` and `measurements`
 * belong to nobody. What a person sealed is text or bytes here, never looked into.
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
    /** The identity provider's name for the person, as of the last token exchange. */
    username: text("username").notNull(),
    contactEmail: text("contact_email"),
    contactEmailVerified: boolean("contact_email_verified").notNull().default(false),
    plan: text("plan").notNull().default("free"),
    /**
     * In which language mails are written: that of the last call that could lead to one. Null until
     * there was such a call.
     */
    language: text("language", { enum: ["en", "es"] }),
    /**
     * Bytes of everything sealed that is kept: contents of all versions and uploads under way (they
     * take their place when they start), labels, tickets, the keyring, its states, and what a
     * change replaced. Advanced in the transaction of each change.
     */
    storageUsed: counterColumn("storage_used").notNull().default(0),
    /**
     * Grows in the transaction of every change of a row in `secrets`: `since` and the ETag of the
     * list.
     */
    changes: counterColumn("changes").notNull().default(0),
    /** When a mail last said that something went to the trash. */
    trashMailAt: timestampColumn("trash_mail_at"),
    /** When the first secret is due for a rehearsal, as a device said; null when none is. */
    rehearsalDueAt: timestampColumn("rehearsal_due_at"),
    /** For which due time a mail went out: one for each. */
    rehearsalMailFor: timestampColumn("rehearsal_mail_for"),
    /** What mails are not sent about (`mailTopics` of the service's calls). */
    mailsOff: text("mails_off")
      .array()
      .notNull()
      .default(sql`'{}'::text[]`),
    telemetryOff: boolean("telemetry_off").notNull().default(false),
    /**
     * Since when the operator keeps the account closed (users/account-command.ts), or it is being
     * deleted: it gets no session.
     */
    lockedAt: timestampColumn("locked_at"),
    /** When it is deleted; null where nobody asked for that. */
    deletionDueAt: timestampColumn("deletion_due_at"),
    createdAt: timestampColumn("created_at").notNull().defaultNow(),
  },
  (table) => [
    index("accounts_by_rehearsal")
      .on(table.rehearsalDueAt)
      .where(sql`rehearsal_due_at is not null`),
    index("accounts_by_deletion")
      .on(table.deletionDueAt)
      .where(sql`deletion_due_at is not null`),
  ],
);

/** Account = (vendor, issuer, subject), never e-mail. */
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

/**
 * Names that somebody has, or gave up a short time ago. `nameKey` is the name in lower case
 * (accounts/user-names.ts).
 */
export const userNames = pgTable(
  "user_names",
  {
    vendorId: text("vendor_id").notNull(),
    nameKey: text("name_key").notNull(),
    accountId: uuid("account_id").notNull(),
    /**
     * Since when it rests: nobody but the account that had it may take it. Null while it is
     * somebody's.
     */
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
 * What strangers hold an id of: the row itself stands with its owner's, under the same id
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
     * The provider's own session, where its token names one: ending one of its product sessions
     * ends them all.
     */
    providerSession: text("provider_session"),
    /**
     * Browser and system, and the address without its end, as of the exchange; null where they are
     * not known.
     */
    device: text("device"),
    address: text("address"),
    /** When the person signed in at the provider; null where it does not say. */
    signedInAt: timestampColumn("signed_in_at"),
    createdAt: timestampColumn("created_at").notNull().defaultNow(),
    expiresAt: timestampColumn("expires_at").notNull(),
    revokedAt: timestampColumn("revoked_at"),
    /**
     * When another session of the account ended it: the provider's session counts again only from a
     * sign-in after that.
     */
    closedAt: timestampColumn("closed_at"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("sessions_by_provider").on(table.accountId, table.providerSession),
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
    /** Bytes of the sealed content of the current version. */
    size: counterColumn("size").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
    updatedAt: timestampColumn("updated_at").notNull(),
    deletedAt: timestampColumn("deleted_at"),
    /**
     * When it was said that the content will be dropped, and when it was. Both null again when the
     * secret leaves the trash.
     */
    dropWarnedAt: timestampColumn("drop_warned_at"),
    droppedAt: timestampColumn("dropped_at"),
    /** `accounts.changes` when this row last changed. */
    change: counterColumn("change").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("secrets_by_change").on(table.accountId, table.change),
    index("secrets_in_trash")
      .on(table.deletedAt)
      .where(sql`${table.deletedAt} is not null and ${table.droppedAt} is null`),
    check("version_begins_at_1", sql`${table.version} >= 1`),
  ],
);

export const secretVersions = pgTable(
  "secret_versions",
  {
    accountId: uuid("account_id").notNull(),
    secretId: uuid("secret_id").notNull(),
    version: integer("version").notNull(),
    /** Null once it was dropped. */
    ticket: bytea("ticket"),
    /** Of the ticket as it was last. */
    ticketSha256: bytea("ticket_sha256").notNull(),
    contentSha256: bytea("content_sha256").notNull(),
    size: counterColumn("size").notNull(),
    /** Bytes of each of its objects but the last, which has the rest. */
    partSize: counterColumn("part_size").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
    /**
     * When content and ticket went. The row stays as long as the secret: labels commit to the
     * digest of every version.
     */
    droppedAt: timestampColumn("dropped_at"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.secretId, table.version] })],
);

/** The objects that are a version's sealed content, in order; `part` begins at 1. */
export const versionObjects = pgTable(
  "version_objects",
  {
    accountId: uuid("account_id").notNull(),
    secretId: uuid("secret_id").notNull(),
    version: integer("version").notNull(),
    part: integer("part").notNull(),
    objectKey: text("object_key").notNull(),
    /**
     * Of its bytes. Null for a part of a content that was kept before digests were. Its size
     * follows from the version's.
     */
    sha256: bytea("sha256"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.secretId, table.version, table.part] })],
);

/**
 * Contents on their way, and for a day those that were published, so that a repeated last call gets
 * its answer.
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
    /** Of the whole content, once all parts were there and were read through. */
    contentSha256: bytea("content_sha256"),
    /** What was published, and by which call; null until then. */
    publishedVersion: integer("published_version"),
    publishedStateRev: counterColumn("published_state_rev"),
    publishedCallSha256: bytea("published_call_sha256"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] }), index("uploads_by_end").on(table.expiresAt)],
);

/** Of uploads, and of answers, by the id of either. */
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
 * One for each link, and for each person that something was shared with. It shows one version of a
 * secret, whose content stays where it is.
 */
export const shares = pgTable(
  "shares",
  {
    accountId: uuid("account_id").notNull(),
    shareId: text("share_id").notNull(),
    secretId: uuid("secret_id").notNull(),
    version: integer("version").notNull(),
    audience: text("audience", { enum: ["public", "signed_in", "person"] }).notNull(),
    /** Of a person's share. */
    recipientId: uuid("recipient_id"),
    /** Null once the share is over for good. */
    ticket: bytea("ticket"),
    ticketSha256: bytea("ticket_sha256").notNull(),
    /** Of a link. */
    linkAuthSha256: bytea("link_auth_sha256"),
    passAuthSha256: bytea("pass_auth_sha256"),
    password: boolean("password").notNull(),
    picture: boolean("picture").notNull(),
    /** Goes with the ticket. */
    shareHelper: bytea("share_helper"),
    expiresAt: timestampColumn("expires_at").notNull(),
    /** Null: no limit. */
    maxViews: integer("max_views"),
    views: integer("views").notNull().default(0),
    wrongPasswords: integer("wrong_passwords").notNull().default(0),
    notify: boolean("notify").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
    lastOpenedAt: timestampColumn("last_opened_at"),
    /** When a mail said that it ends soon. */
    endMailAt: timestampColumn("end_mail_at"),
    revokedAt: timestampColumn("revoked_at"),
    /** When the secret or its version went. */
    endedAt: timestampColumn("ended_at"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.shareId] }),
    index("shares_of_secret").on(table.accountId, table.secretId),
    index("shares_with_ticket")
      .on(table.expiresAt)
      .where(sql`ticket is not null`),
  ],
);

/**
 * One claimed view each, for as long as its opening may be repeated. Stands with the share's owner.
 */
export const shareClaims = pgTable(
  "share_claims",
  {
    accountId: uuid("account_id").notNull(),
    shareId: text("share_id").notNull(),
    claimId: text("claim_id").notNull(),
    /** Null for nobody who is signed in. */
    openedBy: uuid("opened_by"),
    claimedAt: timestampColumn("claimed_at").notNull(),
    /** When it was claimed, or last downloaded from. */
    usedAt: timestampColumn("used_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.shareId, table.claimId] }),
    index("share_claims_by_use").on(table.usedAt),
  ],
);

/**
 * What somebody was given by others, or opened by a link for signed-in people. Stands with the
 * recipient.
 */
export const shareRecipients = pgTable(
  "share_recipients",
  {
    accountId: uuid("account_id").notNull(),
    shareId: text("share_id").notNull(),
    /** The account that holds the share. */
    ownerId: uuid("owner_id").notNull(),
    addedAt: timestampColumn("added_at").notNull(),
    openedAt: timestampColumn("opened_at"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.shareId] }),
    index("share_recipients_by_time").on(table.accountId, table.addedAt),
  ],
);

/** What people told the operator of a share. Stands with the share's owner. */
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

/** What people told the operator of the portal. */
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

/** Somebody is asked for a secret. */
export const requests = pgTable(
  "requests",
  {
    accountId: uuid("account_id").notNull(),
    requestId: text("request_id").notNull(),
    /** Null once the request is over for good. */
    document: text("document"),
    linkAuthSha256: bytea("link_auth_sha256").notNull(),
    maxSize: counterColumn("max_size").notNull(),
    notify: boolean("notify").notNull(),
    createdAt: timestampColumn("created_at").notNull(),
    expiresAt: timestampColumn("expires_at").notNull(),
    revokedAt: timestampColumn("revoked_at"),
    providedAt: timestampColumn("provided_at"),
    collectedAt: timestampColumn("collected_at"),
    /**
     * The answer that was finished first, and its ticket; null before, and once its content went.
     */
    answerId: uuid("answer_id"),
    ticket: bytea("ticket"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.requestId] }),
    index("requests_collected")
      .on(table.collectedAt)
      .where(sql`answer_id is not null`),
    index("requests_with_document")
      .on(table.expiresAt)
      .where(sql`document is not null`),
  ],
);

/**
 * Contents on their way to a request, and the one that came. Their parts stand among those of
 * uploads.
 */
export const answers = pgTable(
  "answers",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    requestId: text("request_id").notNull(),
    size: counterColumn("size").notNull(),
    partSize: counterColumn("part_size").notNull(),
    /** Null for the one that came: it stays with its request. */
    expiresAt: timestampColumn("expires_at"),
    /** Of the whole content, once all parts were there and were read through. */
    contentSha256: bytea("content_sha256"),
    /** SHA-256 of the call that finished it; null until then. */
    finishSha256: bytea("finish_sha256"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("answers_of_request").on(table.accountId, table.requestId),
    index("answers_by_end").on(table.expiresAt),
  ],
);

/** Ids that went for good: `purged` of the list, and never to be used again. */
export const purgedSecrets = pgTable(
  "purged_secrets",
  { accountId: uuid("account_id").notNull(), id: uuid("id").notNull(), change: counterColumn("change").notNull() },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("purged_secrets_by_change").on(table.accountId, table.change),
  ],
);

export const keyrings = pgTable("keyrings", {
  accountId: uuid("account_id").primaryKey(),
  keyEpoch: counterColumn("key_epoch").notNull(),
  stateRev: counterColumn("state_rev").notNull(),
  state: text("state").notNull(),
  book: text("book").notNull(),
  shares: text("shares").notNull(),
  /** Null until the first one. */
  requests: text("requests"),
  /** JCS of the statement, as it was signed. */
  keyStatement: text("key_statement").notNull(),
  /**
   * SHA-256 of the JCS of the last keyring change, `sig` included: the same one once more answers
   * as the first time.
   */
  lastChangeSha256: bytea("last_change_sha256").notNull(),
  /**
   * SHA-256 of what came with it in the call (see keyring/apply-change.ts), and the secret that it
   * was about.
   */
  lastCallSha256: bytea("last_call_sha256").notNull(),
  lastSecretId: uuid("last_secret_id"),
  lastVersion: integer("last_version"),
  updatedAt: timestampColumn("updated_at").notNull(),
});

/** Every state is kept, so that a device can follow `previous` from any of them to the newest. */
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
 * What a keyring change replaced or removed, for 30 days. `stateRev` is the change that ended it.
 */
export const formerKeyringParts = pgTable(
  "keyring_former",
  {
    accountId: uuid("account_id").notNull(),
    stateRev: counterColumn("state_rev").notNull(),
    part: text("part", { enum: ["book", "shares", "requests", "slot", "image_record"] }).notNull(),
    /** The opener's or record's id; empty for book, shares and requests. */
    partId: text("part_id").notNull(),
    value: bytea("value").notNull(),
    endedAt: timestampColumn("ended_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.stateRev, table.part, table.partId] }),
    index("keyring_former_by_end").on(table.endedAt),
  ],
);

/**
 * Rows sealed anew, which nothing shows until a keyring change switches to them. One of an account
 * at a time.
 */
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
    /** Of the row as it was sent. */
    rowSha256: bytea("row_sha256").notNull(),
    /** Of the present version alone, and the epoch of its header. */
    label: text("label"),
    keyEpoch: counterColumn("key_epoch"),
    ticket: bytea("ticket"),
    /** Where the content was sealed anew as well. */
    objectKey: text("object_key"),
    contentSha256: bytea("content_sha256"),
    size: counterColumn("size"),
    /** Of what the row stands for: when these changed, it was sealed from something old. */
    beforeLabelSha256: bytea("before_label_sha256"),
    beforeTicketSha256: bytea("before_ticket_sha256").notNull(),
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
    /** The helper, sealed with RECORD_KEY (see db/record-box.ts). */
    sealedHelper: bytea("sealed_helper").notNull(),
    /** The client's time. */
    createdAt: timestampColumn("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] })],
);

/**
 * Who asked to start the account anew, and what came of it: one that has not ended waits until
 * `readyAt`, then it may be begun. An ended one stays for 30 days, and after `begun` what the
 * account had before with it.
 */
export const accountResets = pgTable(
  "start_anews",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    askedAt: timestampColumn("asked_at").notNull(),
    readyAt: timestampColumn("ready_at").notNull(),
    endedAt: timestampColumn("ended_at"),
    ending: text("ending", { enum: ["objected", "cancelled", "begun"] }),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("start_anews_ended")
      .on(table.endedAt)
      .where(sql`ended_at is not null`),
  ],
);

/**
 * Secrets of an account from before it was started anew: their versions and objects stay where they
 * are until these rows go.
 */
export const archivedSecrets = pgTable(
  "secrets_set_aside",
  {
    accountId: uuid("account_id").notNull(),
    id: uuid("id").notNull(),
    version: integer("version").notNull(),
    label: text("label").notNull(),
    deletedAt: timestampColumn("deleted_at"),
    setAsideAt: timestampColumn("set_aside_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("secrets_set_aside_by_time").on(table.setAsideAt),
  ],
);

/**
 * What happened in an account, for its owner to read, for 90 days (activity/record-activity.ts).
 * Nothing that somebody typed or sealed stands in it.
 */
export const activity = pgTable(
  "activity",
  {
    accountId: uuid("account_id").notNull(),
    /** UUIDv7: in the order of time. */
    id: uuid("id").notNull(),
    /** One of `activityKindsByTopic` of the service's calls. */
    kind: text("kind").notNull(),
    count: integer("count").notNull().default(1),
    /** The end of a secret's id. */
    secret: text("secret"),
    device: text("device"),
    address: text("address"),
    at: timestampColumn("at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] }), index("activity_by_time").on(table.at)],
);

/** Mailboxes between two devices of one account, for minutes; they count against no quota. */
export const deviceLinks = pgTable(
  "device_links",
  {
    accountId: uuid("account_id").notNull(),
    linkId: text("link_id").notNull(),
    message: text("message").notNull(),
    /** The sessions that filled and answered it. */
    filledBy: uuid("filled_by").notNull(),
    answer: text("answer"),
    answeredBy: uuid("answered_by"),
    expiresAt: timestampColumn("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.linkId] }),
    index("device_links_by_end").on(table.expiresAt),
  ],
);

/**
 * Objects that no row refers to: not yet, or not any more. What is due goes
 * (objects/orphaned-objects.ts).
 */
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

/**
 * Mails that are due; a row goes when its mail was handed over. They are written when they are
 * sent, from what is true then.
 */
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
    /** Whom it goes to, where that is not the account's verified address. */
    address: text("address"),
    /** The share that was reported. */
    shareId: text("share_id"),
    createdAt: timestampColumn("created_at").notNull(),
    dueAt: timestampColumn("due_at").notNull(),
    attempts: integer("attempts").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] }), index("mails_by_due").on(table.dueAt)],
);

/**
 * The one open question to an account whether an address is its own. The nonce is not kept
 * (mail/address-nonce.ts).
 */
export const emailValidations = pgTable("email_validations", {
  accountId: uuid("account_id").primaryKey(),
  id: uuid("id").notNull(),
  address: text("address").notNull(),
  createdAt: timestampColumn("created_at").notNull(),
});

/**
 * Calls counted in fixed windows, across processes. `subject` is an account, a keyed digest (of an
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
 * Sums of what pages measured, by day (UTC), and of violations of their policy. Names are known
 * ones or `other`, so that rows are few.
 */
export const measurements = pgTable(
  "measurements",
  {
    remote: text("remote").notNull(),
    day: date("day", { mode: "string" }).notNull(),
    release: text("release").notNull(),
    phase: text("phase").notNull(),
    /** Path pattern; empty where none is meant. */
    route: text("route").notNull(),
    /** Error code or directive; empty for what went well. */
    code: text("code").notNull(),
    count: counterColumn("count").notNull(),
    /** How many lay in each class of values (`telemetryBucketBounds` of the service's calls). */
    classes: integer("classes").array().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.remote, table.day, table.release, table.phase, table.route, table.code] }),
    index("measurements_by_day").on(table.day),
  ],
);
