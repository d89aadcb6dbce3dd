import type { Me } from "@relicario/shared/api";

/** An account with a verified address, all mail topics, and no pending deletion. */
export const account: Me = {
  user_id: "01890a5d-ac96-7000-8000-00000000a11c",
  user_name: "alba",
  username: "alba@example.org",
  contact_email: "alba@example.org",
  contact_email_verified: true,
  licence: { plan: "free", storage_quota: 10_000_000_000, storage_used: 1_500_000, secrets: 2, shares: 1 },
  rehearsal_due_at: null,
  notifications: {
    share_opened: true,
    share_expiring: true,
    request_answered: true,
    shared_with_you: true,
    new_device: true,
    rehearsal: true,
  },
  telemetry: true,
  deletion_due_at: null,
  created_at: "2026-11-01T09:00:00.000Z",
};
