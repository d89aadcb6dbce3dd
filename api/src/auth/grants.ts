import { createHmac } from "node:crypto";

import { Id, mailTopics, RequestId, ShareId } from "@relicario/shared/api";
import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";

import type { RecordKeys } from "../env/record-keys.ts";

const Grant = z.discriminatedUnion("for", [
  /** Downloads the shared version after a view was claimed. */
  z.object({
    for: z.literal("share"),
    account: Id,
    share: ShareId,
    claim: ShareId,
    version: z.int(),
    opened_by: Id.nullable(),
  }),
  /** Downloads the answer to a request, as its owner. */
  z.object({ for: z.literal("request"), account: Id, request: RequestId, answer: Id }),
  /** Sends one answer to a request. */
  z.object({ for: z.literal("answer"), account: Id, request: RequestId, answer: Id }),
  /** Turns off mails about a topic. */
  z.object({ for: z.literal("unsubscribe"), account: Id, about: z.enum(mailTopics) }),
]);
type Grant = z.infer<typeof Grant>;
export type GrantOf<K extends Grant["for"]> = Extract<Grant, { for: K }>;

/**
 * Tokens for one action without a session: JWTs (HS256) that the service issues to itself.
 * `account` owns the rows that the token is about. A row may end before its token, so each use
 * reads the row.
 */
export interface Grants {
  issue(grant: Grant, expiresAt: Date): Promise<string>;
  /** Null for a token that is forged, expired or of another kind. */
  verify<K extends Grant["for"]>(token: string, ...kinds: readonly K[]): Promise<GrantOf<K> | null>;
}

/** Hours that a download may take. */
export const maxDownloadHours = 24;

const grantTokenType = "relicario-grant+jwt";

/** @param recordKeys signing keys are derived from them; the first signs, all verify */
export function createGrants(recordKeys: RecordKeys, now: () => Date): Grants {
  const deriveKey = (recordKey: Buffer): Buffer => createHmac("sha256", recordKey).update("relicario/grants").digest();
  const signingKey = deriveKey(recordKeys[0]);
  const keys = recordKeys.map(deriveKey);
  return {
    issue: (grant, expiresAt) =>
      new SignJWT(grant)
        .setProtectedHeader({ alg: "HS256", typ: grantTokenType })
        .setExpirationTime(expiresAt)
        .sign(signingKey),
    async verify(token, ...kinds) {
      for (const key of keys) {
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
          // one result for every defect, and another key may verify it
        }
      }
      return null;
    },
  };
}

function isOfKind<K extends Grant["for"]>(grant: Grant, kinds: readonly K[]): grant is GrantOf<K> {
  return kinds.some((kind) => kind === grant.for);
}
