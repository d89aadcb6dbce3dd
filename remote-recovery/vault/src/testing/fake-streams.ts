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

/** Opens a whole content or a range of it: of an own secret, or by a download token. */
export function openStream(
  account: FakeAccount,
  sharing: { readonly state: FakeSharing; readonly me: FakePerson | null } | null,
  path: string,
  { body, headers }: HttpRequestOptions,
  now: number,
): StreamedResponse {
  const range = headers?.["range"];
  if (path === downloadPath) return streamRange(findOwnContent(account, GetSecretBody.parse(body)), range);
  if (path !== sharedDownloadPath) throw refusal("not_found");
  const { token } = SharedDownloadBody.parse(body);
  return streamRange(findAnswerContent(account, token) ?? requireSharedContent(sharing, token, now), range);
}

function findOwnContent(account: FakeAccount, { secret_db_id: id, version }: GetSecretFields): Bytes {
  const versions = account.rows.get(id)?.versions;
  const requestedVersion = versions?.[(version ?? versions.length) - 1];
  if (requestedVersion === undefined) throw refusal("not_found");
  if (requestedVersion.dropped === true) throw refusal("content_gone");
  return copyOf(fromBase64url(requestedVersion.content));
}

type GetSecretFields = ReturnType<typeof GetSecretBody.parse>;

/** Finds the answer to a request of this account. */
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
