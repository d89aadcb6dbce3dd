import type { OwnSession } from "@relicario/shared/api";

import type { SignIn } from "./sign-ins.ts";

export function presentSignIn({
  newestSession: { id, device, address, signedInAt, createdAt },
  isCurrent,
}: SignIn): OwnSession {
  return {
    id,
    current: isCurrent,
    device,
    address,
    signed_in_at: (signedInAt ?? createdAt).toISOString(),
    last_seen_at: createdAt.toISOString(),
  };
}
