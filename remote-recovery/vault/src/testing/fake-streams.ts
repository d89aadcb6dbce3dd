import {
  SharedDownloadBody,
  downloadPath,
  fromBase64url,
  GetSecretBody,
  sharedDownloadPath,
} from "@relicario/shared/api";
import type { HttpRequestOptions, StreamedResponse } from "@relicario/shared/contract";

import { copyOf, type Bytes } from "../seal/bytes.ts";
import { refusal, type FakeAccount } from "./fake-account.ts";
import { requireSharedContent, type FakePerson, type FakeSharing } from "./fake-shares.ts";

/** A sealed content, or a range of it: of one's own secret, or by a download token. */
export function openStream(
  account: FakeAccount,
  sharing: { readonly state: FakeSharing; readonly me: FakePerson | null } | null,
  path: string,
  { body, headers }: HttpRequestOptions,
  now: number,
): StreamedResponse {
  const range = headers?.["range"];
  if (path === downloadPath) return streamRange(ownContent(account, GetSecretBody.parse(body)), range);
  if (path !== sharedDownloadPath) throw refusal("not_found");
  const { token } = SharedDownloadBody.parse(body);
  return streamRange(findAnswerContent(account, token) ?? requireSharedContent(sharing, token, now), range);
}

function ownContent(account: FakeAccount, { secret_db_id: id, version }: GetSecretFields): Bytes {
  const versions = account.rows.get(id)?.versions;
  const requested = versions?.[(version ?? versions.length) - 1];
  if (requested === undefined) throw refusal("not_found");
  if (requested.dropped === true) throw refusal("content_gone");
  return copyOf(fromBase64url(requested.content));
}

type GetSecretFields = ReturnType<typeof GetSecretBody.parse>;

/** What a request of this account was answered. */
function findAnswerContent({ requests }: FakeAccount, token: string): Bytes | undefined {
  return requests?.get(token.replace(/^answer /, ""))?.provided?.content;
}

function streamRange(bytes: Bytes, range: string | undefined): StreamedResponse {
  const [, from = "0", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
  const start = Number(from);
  if (start >= bytes.length) throw refusal("range_not_satisfiable");
  return {
    totalSize: bytes.length,
    offset: start,
    body: new Blob([bytes.slice(start, to === "" ? undefined : Number(to) + 1)]).stream(),
  };
}
