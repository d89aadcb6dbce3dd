import { Me } from "@relicario/shared/api";
import type { Portal, SecretRow } from "@relicario/shared/contract";
import { queryOptions } from "@tanstack/react-query";

/** After so many days somebody should try whether the kept picture still opens a secret. */
export const rehearsalDays = 180;
const dayMilliseconds = 86_400_000;

/** Kept secrets whose opening was not proved for {@link rehearsalDays}, the longest waiting first. What is locked cannot be told. */
export function notRehearsed(rows: readonly SecretRow[], now: number): readonly SecretRow[] {
  const since = (row: SecretRow) => Date.parse(row.label?.rehearsedAt ?? row.updatedAt);
  return rows
    .filter((row) => row.deletedAt === null && row.label !== null && now - since(row) > rehearsalDays * dayMilliseconds)
    .toSorted((a, b) => since(a) - since(b));
}

/** The account, for its address alone. Home does without it when the service does not answer. */
export const addressQuery = (http: Portal["http"], userId: string) =>
  queryOptions({ queryKey: ["secrets-home", "me", userId], queryFn: ({ signal }) => http.request("GET", "/user/me", Me, { signal }) });
