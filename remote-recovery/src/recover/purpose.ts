import { toSafePath, parseVersion } from "./paths.ts";

/** What an opener is presented for, according to the query. */
export type Purpose =
  | { readonly kind: "recover"; readonly secretId: string; readonly version: number | null }
  /** Proves that a copy of the picture still opens a secret, without showing it. */
  | { readonly kind: "check_copy"; readonly secretId: string }
  /** Unlocks the account; `then` is the path afterwards. */
  | { readonly kind: "unlock"; readonly then: string };

/** Parses `?secret=` (with `&version=`), `?check=` or `?then=`. */
export function parsePurpose(query: URLSearchParams): Purpose {
  const secretId = query.get("secret");
  if (secretId !== null) return { kind: "recover", secretId, version: parseVersion(query.get("version")) };
  const checkedSecretId = query.get("check");
  return checkedSecretId === null
    ? { kind: "unlock", then: toSafePath(query.get("then")) }
    : { kind: "check_copy", secretId: checkedSecretId };
}

export function getDestination(purpose: Purpose): string {
  switch (purpose.kind) {
    case "recover":
      return "/congrats-recover";
    case "check_copy":
      return `/congrats?${new URLSearchParams({ checked: purpose.secretId }).toString()}`;
    case "unlock":
      return purpose.then;
    default:
      return purpose satisfies never;
  }
}
