import type { CallOptions, Vault } from "../contract/index.ts";

/** Members of the vault's sharing groups, such as `received.open`. */
type SharingMember = {
  [Part in "shares" | "people" | "received" | "requests"]: `${Part}.${keyof Vault[Part] & string}`;
}[keyof Pick<Vault, "shares" | "people" | "received" | "requests">];

/** Members whose next calls a test can make fail. */
export type FailableMember =
  | Exclude<
      {
        [Name in keyof Vault]: Vault[Name] extends (...parameters: never[]) => Promise<unknown> ? Name : never;
      }[keyof Vault],
      "lock" | "signOut"
    >
  | SharingMember
  | `openers.${keyof Vault["openers"]}`
  | `deviceLinks.${keyof Vault["deviceLinks"]}`
  | `accountReset.${keyof Vault["accountReset"]}`
  | `imports.${keyof Vault["imports"]}`;

/** Records a call of a member. Throws if the test made the member fail. */
export type RecordCall = (member: FailableMember | "lock" | "signOut", options?: CallOptions) => void;
