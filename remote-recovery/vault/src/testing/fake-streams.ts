import { DownloadShared, downloadPath, fromB64u, GetSecret, sharedDownloadPath } from "@relicario/shared/api";
import type { HttpOptions, HttpStream } from "@relicario/shared/contract";

import { copyOf, type Bytes } from "../seal/bytes.ts";
import { fail, type FakeAccount } from "./fake-account.ts";
import { sharedContent, type FakePerson, type FakeSharing } from "./fake-shares.ts";

/** A sealed content, or a range of it: of one's own secret, or by a download token. */
export function openStream(
  account: FakeAccount,
  sharing: { readonly between: FakeSharing; readonly me: FakePerson | null } | null,
  path: string,
  { body, headers }: HttpOptions,
  now: number,
): HttpStream {
  const range = headers?.["range"];
  if (path === downloadPath) return ranged(ownContent(account, GetSecret.parse(body)), range);
  if (path !== sharedDownloadPath) throw fail("not_found");
  const { token } = DownloadShared.parse(body);
  return ranged(answeredContent(account, token) ?? sharedContent(sharing, token, now), range);
}

function ownContent(account: FakeAccount, { secret_db_id: id, version }: GetSecretBody): Bytes {
  const versions = account.rows.get(id)?.versions;
  const wanted = versions?.[(version ?? versions.length) - 1];
  if (wanted === undefined) throw fail("not_found");
  if (wanted.dropped === true) throw fail("content_gone");
  return copyOf(fromB64u(wanted.content));
}

type GetSecretBody = ReturnType<typeof GetSecret.parse>;

/** What a request of this account was answered. */
function answeredContent({ requests }: FakeAccount, token: string): Bytes | undefined {
  return requests?.get(token.replace(/^answer /, ""))?.provided?.content;
}

function ranged(bytes: Bytes, range: string | undefined): HttpStream {
  const [, from = "0", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
  const start = Number(from);
  if (start >= bytes.length) throw fail("range_not_satisfiable");
  return {
    size: bytes.length,
    start,
    body: new Blob([bytes.slice(start, to === "" ? undefined : Number(to) + 1)]).stream(),
  };
}
