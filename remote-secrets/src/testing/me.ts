import type { Me } from "@relicario/shared/api";

export const createMe = (contact_email: string | null, contact_email_verified: boolean, secrets = 1): Me => ({
  user_id: "01890a5d-ac96-7000-8000-00000000a11c",
  user_name: "alba",
  username: "alba",
  contact_email,
  contact_email_verified,
  licence: { plan: "free", storage_quota: 1, storage_used: 0, secrets, shares: 0 },
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
});
