import { mailTopics, NotificationSettings, type Me } from "@relicario/shared/api";

import type { VendorSettings } from "../vendors/vendors.ts";
import type { Account } from "./queries.ts";

export function presentMe(
  account: Account,
  { secretCount, shareCount }: { secretCount: number; shareCount: number },
  vendor: VendorSettings,
): Me {
  return {
    user_id: account.id,
    user_name: account.userName,
    username: account.providerUsername,
    contact_email: account.contactEmail,
    contact_email_verified: account.contactEmailVerified,
    licence: {
      plan: account.plan,
      storage_quota: vendor.quotaBytes,
      storage_used: account.storageUsed,
      secrets: secretCount,
      shares: shareCount,
    },
    rehearsal_due_at: account.copyCheckDueAt?.toISOString() ?? null,
    notifications: presentNotifications(account.mutedMailTopics),
    telemetry: !account.telemetryOff,
    deletion_due_at: account.deletionDueAt?.toISOString() ?? null,
    created_at: account.createdAt.toISOString(),
  };
}

function presentNotifications(mutedTopics: readonly string[]): NotificationSettings {
  return NotificationSettings.parse(
    Object.fromEntries(mailTopics.map((topic) => [topic, !mutedTopics.includes(topic)])),
  );
}
