import type { DeviceKind } from "@relicario/shared/contract";

import { requireKeys, type Session } from "../session.ts";
import { keepAccountKey } from "./unlock.ts";

/**
 * The answer to "my own device or a shared computer". An own one keeps the account key, unreadable, between page loads.
 *
 * @throws PortalError `vault_locked`, `storage_full`.
 */
export async function answerDevice(session: Session, kind: DeviceKind): Promise<void> {
  const keys = requireKeys(session);
  if (kind === "own") await keepAccountKey(session, keys);
  else await session.device.write({ kind, accountKey: null, locked: false });
  session.setState({ status: "unlocked", device: kind });
}
