import type { DeviceLinkRow } from "./queries.ts";

export const presentLink = ({ message, expiresAt }: DeviceLinkRow) => ({
  message,
  expires_at: expiresAt.toISOString(),
});

export const presentAnswer = ({ answer, expiresAt }: DeviceLinkRow) => ({
  answer,
  expires_at: expiresAt.toISOString(),
});
