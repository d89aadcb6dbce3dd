import { createHmac } from "node:crypto";

import { Id, mailTopics, RequestId, ShareId } from "@relicario/shared/api";
import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";

const Grant = z.discriminatedUnion("for", [
  /** To download what a share showed when a view of it was claimed. */
  z.object({
    for: z.literal("share"),
    account: Id,
    share: ShareId,
    claim: ShareId,
    version: z.int(),
    opened_by: Id.nullable(),
  }),
  /** To download the answer to a request, for its owner. */
  z.object({ for: z.literal("request"), account: Id, request: RequestId, answer: Id }),
  /** To send one answer to a request. */
  z.object({ for: z.literal("answer"), account: Id, request: RequestId, answer: Id }),
  /** To get no more mails about something. */
  z.object({ for: z.literal("unsubscribe"), account: Id, about: z.enum(mailTopics) }),
]);
type Grant = z.infer<typeof Grant>;
export type GrantOf<K extends Grant["for"]> = Extract<Grant, { for: K }>;

/**
 * Tokens that let their holder do one thing, given to people who need no session: a JWT (HS256) of
 * the service to itself. `account` is the account whose rows it is about. What it is about may be
 * over before its time: the rows are asked each time.
 */
export interface Grants {
  issue(grant: Grant, expiresAt: Date): Promise<string>;
  /** Null for a token that is not ours, is for something else, or is over. */
  verify<K extends Grant["for"]>(token: string, ...kinds: readonly K[]): Promise<GrantOf<K> | null>;
}

/** The longest that a download may go on. */
export const maxDownloadHours = 24;

const grantTokenType = "relicario-grant+jwt";

/** @param recordKey RECORD_KEY; the signing key is derived from it. */
export function createGrants(recordKey: Buffer, now: () => Date): Grants {
  const key = createHmac("sha256", recordKey).update("relicario/grants").digest();
  return {
    issue: (grant, expiresAt) =>
      new SignJWT(grant)
        .setProtectedHeader({ alg: "HS256", typ: grantTokenType })
        .setExpirationTime(expiresAt)
        .sign(key),
    async verify(token, ...kinds) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ["HS256"],
          typ: grantTokenType,
          requiredClaims: ["exp"],
          currentDate: now(),
        });
        const grant = Grant.parse(payload);
        return isOfKind(grant, kinds) ? grant : null;
      } catch {
        return null; // whatever is wrong with it, it gives nothing
      }
    },
  };
}

function isOfKind<K extends Grant["for"]>(grant: Grant, kinds: readonly K[]): grant is GrantOf<K> {
  return kinds.some((kind) => kind === grant.for);
}
