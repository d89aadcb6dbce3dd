import type { VaultState } from "@relicario/shared/contract";

/** Query keys per account. Rows have plaintext labels: never persist this cache. */
export const secretKeys = {
  all: (userId: string) => ["secrets", userId] as const,
  refresh: (userId: string) => ["secrets", userId, "refresh"] as const,
  rows: (userId: string, status: VaultState["status"]) => ["secrets", userId, "rows", status] as const,
  partialRows: (userId: string, status: VaultState["status"]) => ["secrets", userId, "partial-rows", status] as const,
  images: (userId: string, status: VaultState["status"]) => ["secrets", userId, "images", status] as const,
  history: (userId: string, secretId: string) => ["secrets", userId, "history", secretId] as const,
  liveShares: (userId: string, status: VaultState["status"]) => ["secrets", userId, "live-shares", status] as const,
  savedListState: (userId: string) => ["secrets", userId, "saved-list-state"] as const,
  uploads: (userId: string, status: VaultState["status"]) => ["secrets", userId, "uploads", status] as const,
};
