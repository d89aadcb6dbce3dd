import type { RemoteName } from "@relicario/shared/contract";
import { z } from "zod";

import type { VerifiedDeployment, VerifiedRemote } from "../deployment/verify.ts";

/** Session storage item with the remotes that the person left out of this tab. */
const leftOutKey = "leftOutRemotes";

const Names = z.array(z.string());

export function readLeftOut(session: Pick<Storage, "getItem">): readonly RemoteName[] {
  try {
    return Names.parse(JSON.parse(session.getItem(leftOutKey) ?? "[]"));
  } catch {
    return [];
  }
}

/** Adds remotes to those that this tab leaves out. They stay until {@link loadLeftOut}. */
export function addLeftOut(session: Pick<Storage, "getItem" | "setItem">, names: readonly RemoteName[]): void {
  session.setItem(leftOutKey, JSON.stringify([...new Set([...readLeftOut(session), ...names])]));
}

/** Reloads the page with all remotes. */
export function loadLeftOut(session: Pick<Storage, "removeItem">, location: Pick<Location, "reload">): void {
  session.removeItem(leftOutKey);
  location.reload();
}

/** Refuses these remotes with `remote_left_out`, so that none of their code runs. */
export function leaveOut(verified: VerifiedDeployment, names: readonly RemoteName[]): VerifiedDeployment {
  const remotes = [...verified.remotes].map(([name, remote]): [RemoteName, VerifiedRemote] => [
    name,
    remote.status === "verified" && names.includes(name)
      ? { status: "refused", code: "remote_left_out", manifest: remote.record.manifest }
      : remote,
  ]);
  return { ...verified, remotes: new Map(remotes) };
}
