import type { OwnSession } from "@relicario/shared/api";

import type { SignIn } from "./sign-ins.ts";

export function presentSignIn({
  session: { id, device, address, signedInAt, createdAt },
  current,
}: SignIn): OwnSession {
  return {
    id,
    current,
    device,
    address,
    signed_in_at: (signedInAt ?? createdAt).toISOString(),
    last_seen_at: createdAt.toISOString(),
  };
}
