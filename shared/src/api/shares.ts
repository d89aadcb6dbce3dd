import { z } from "zod";

import { KeyringChange } from "./keyring.ts";
import { helperBytes, maxReportLength, maxShareViews, maxTicketBytes } from "./limits.ts";
import { base64urlBytes, PositiveInt, Digest, Id, Timestamp } from "./wire.ts";

/** 128 random bits, made by the client; worthless alone. */
export const ShareId = base64urlBytes(16, { exact: true });

/**
 * `public`: whoever has the link. `signed_in`: whoever has the link and is signed in. `person`: one
 * account, by its keys.
 */
export const Audience = z.enum(["public", "signed_in", "person"]);
export type Audience = z.infer<typeof Audience>;

/**
 * What proves to the service that somebody holds the link key, or the link key and the password.
 * The service keeps their SHA-256.
 */
const LinkProof = base64urlBytes(32, { exact: true });

const viewCount = z.int().min(1).max(maxShareViews);

/**
 * Body of `POST /share`. Links have both digests, and no `recipient`; a person has a `recipient`
 * and neither digest. `ticket` is sealed to the link's identity or to the person's.
 */
export const CreateShareBody = z
  .strictObject({
    share_id: ShareId,
    secret_db_id: Id,
    /** The present one; the share keeps its content until it ends. */
    version: PositiveInt,
    audience: Audience,
    /** Id of the account that it is for. */
    recipient: Id.optional(),
    ticket: base64urlBytes(maxTicketBytes),
    link_auth_sha256: Digest.optional(),
    pass_auth_sha256: Digest.optional(),
    /** Whether a password goes into the key: told to whoever looks. */
    password: z.boolean(),
    /** The helper of the picture that it also asks for: 454 bytes. */
    share_helper: base64urlBytes(helperBytes, { exact: true }).optional(),
    expires_at: Timestamp,
    /** Left out: no limit. */
    max_views: viewCount.optional(),
    /** Mail to the owner when it is opened. */
    notify: z.boolean().optional(),
    keyring: KeyringChange,
  })
  .superRefine((share, context) => {
    const isLink = share.audience !== "person";
    if ((share.recipient === undefined) !== isLink)
      context.addIssue({ code: "custom", path: ["recipient"], message: "of a person, and only of a person" });
    for (const name of ["link_auth_sha256", "pass_auth_sha256"] as const) {
      if ((share[name] !== undefined) !== isLink)
        context.addIssue({ code: "custom", path: [name], message: "of a link, and only of a link" });
    }
    if (!isLink && (share.password || share.share_helper !== undefined))
      context.addIssue({ code: "custom", path: ["password"], message: "only a link asks for a password or a picture" });
  });
export type CreateShareBody = z.infer<typeof CreateShareBody>;

/** Answer of `POST /share` and of `PATCH /share/{share_id}`. */
export const ShareWriteResponse = z.strictObject({ share_id: ShareId, state_rev: PositiveInt });

/**
 * Body of `PATCH /share/{share_id}`: `version` and `ticket` together, of a later version of the
 * secret.
 */
export const ChangeShareBody = z
  .strictObject({
    version: PositiveInt.optional(),
    ticket: base64urlBytes(maxTicketBytes).optional(),
    expires_at: Timestamp.optional(),
    /** Null: no limit. */
    max_views: viewCount.nullable().optional(),
    keyring: KeyringChange,
  })
  .refine(({ version, ticket }) => (version === undefined) === (ticket === undefined), {
    path: ["ticket"],
    message: "comes with its version",
  });
export type ChangeShareBody = z.infer<typeof ChangeShareBody>;

/**
 * Why a share can no longer be opened; null while it can. Only its owner is told. `locked`: ten
 * wrong passwords. `ended`: the secret or its version went.
 */
export const ShareEndReason = z.enum(["expired", "used_up", "revoked", "locked", "ended"]);

export const Person = z.strictObject({ user_id: Id, user_name: z.string() });

/** One share, as its owner sees it. */
export const OwnShare = z.strictObject({
  share_id: ShareId,
  secret_db_id: Id,
  version: PositiveInt,
  audience: Audience,
  recipient: Person.nullable(),
  password: z.boolean(),
  picture: z.boolean(),
  ticket_sha256: Digest,
  created_at: Timestamp,
  expires_at: Timestamp,
  views: z.int().min(0),
  max_views: z.int().min(1).nullable(),
  last_opened_at: Timestamp.nullable(),
  notify: z.boolean(),
  end: ShareEndReason.nullable(),
});
export type OwnShare = z.infer<typeof OwnShare>;

/**
 * Query of `GET /sharelist/{secret_id}` and of `GET /user/share-with-me`: with those that ended,
 * too.
 */
export const ShareListQuery = z.strictObject({ get_expired: z.stringbool().default(false) });
export const ShareList = z.strictObject({ shares: z.array(OwnShare) });

/**
 * Answer of `POST /share/get-secret/{share_id}` and `POST /share/get-public-secret/{share_id}`:
 * costs no view, asks for no key.
 */
export const ShareInfo = z.strictObject({
  share_id: ShareId,
  audience: Audience,
  password: z.boolean(),
  picture: z.boolean(),
  expires_at: Timestamp,
});
export type ShareInfo = z.infer<typeof ShareInfo>;

/**
 * Body of `POST /share/get-secret` and `POST /share/get-public-secret`. Without `claim_id` a look
 * at who sent it, which claims nothing. With it one view is claimed; the same `claim_id` within
 * {@link claimLifetimeMinutes} is the same view, so that an answer that was lost costs nothing. A
 * link takes `link_auth`, and to claim `pass_auth` too; a person's share neither.
 */
export const OpenShareBody = z.strictObject({
  share_id: ShareId,
  link_auth: LinkProof.optional(),
  pass_auth: LinkProof.optional(),
  /** 128 random bits, made by the client for one opening. */
  claim_id: base64urlBytes(16, { exact: true }).optional(),
});
export type OpenShareBody = z.infer<typeof OpenShareBody>;

/** Answer without `claim_id`. */
export const ShareOffer = ShareInfo.extend({
  from: Person,
  /** Where a picture is asked for. */
  share_helper: base64urlBytes(helperBytes, { exact: true }).nullable(),
  /** Null: no limit. */
  views_left: z.int().min(0).nullable(),
});
export type ShareOffer = z.infer<typeof ShareOffer>;

/**
 * Answer with `claim_id`. `download` is the body of `POST` to {@link sharedDownloadPath}, which
 * streams the sealed content (`Range`, `If-Range`).
 */
export const ShareClaim = z.strictObject({
  from: Person,
  ticket: base64urlBytes(maxTicketBytes),
  download: z.strictObject({ token: z.string().max(512), size: z.int().min(0), expires_at: Timestamp }),
});
export type ShareClaim = z.infer<typeof ShareClaim>;

/** Contents of shares and of answers, as they are sealed. */
export const sharedDownloadPath = "/share/content";

/** Body of `POST` to {@link sharedDownloadPath}. */
export const SharedDownloadBody = z.strictObject({ token: z.string().min(1).max(512) });

/**
 * Answer of `GET /user/share-with-me`: shares addressed to this account, and links for signed-in
 * people that it opened.
 */
export const ReceivedShares = z.strictObject({
  shares: z.array(
    z.strictObject({
      share_id: ShareId,
      audience: Audience,
      from: Person,
      created_at: Timestamp,
      expires_at: Timestamp,
      /** When this account opened it first; null before. */
      opened_at: Timestamp.nullable(),
      views_left: z.int().min(0).nullable(),
      /** Whether it can still be opened. Why not, nobody but its owner is told. */
      available: z.boolean(),
    }),
  ),
});
export type ReceivedShares = z.infer<typeof ReceivedShares>;

/**
 * Body of `POST /reports/share`: whoever got a public link tells the operator of it, by its id
 * alone.
 */
export const ReportShareBody = z.strictObject({
  share_id: ShareId,
  reason: z.enum(["phishing", "unwanted", "illegal", "other"]),
  message: z.string().max(maxReportLength).optional(),
});
