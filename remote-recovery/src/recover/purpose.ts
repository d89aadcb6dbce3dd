import { safePath, parseVersion } from "./paths.ts";

/** What a picture is shown for, as the address says it. */
export type Purpose =
  /** One secret, an older version of it where one is named. */
  | { readonly kind: "recover"; readonly secretId: string; readonly version: number | null }
  /** To prove that a kept copy still opens a secret, without showing it. */
  | { readonly kind: "check_copy"; readonly secretId: string }
  /** The whole account; `then` is where to go afterwards. */
  | { readonly kind: "unlock"; readonly then: string };

/** `?secret=` (with `&version=`), `?check=`, or `?then=`. */
export function parsePurpose(query: URLSearchParams): Purpose {
  const secretId = query.get("secret");
  if (secretId !== null) return { kind: "recover", secretId, version: parseVersion(query.get("version")) };
  const checkedSecretId = query.get("check");
  return checkedSecretId === null
    ? { kind: "unlock", then: safePath(query.get("then")) }
    : { kind: "check_copy", secretId: checkedSecretId };
}

/** Where it ends. */
export function destinationOf(purpose: Purpose): string {
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
