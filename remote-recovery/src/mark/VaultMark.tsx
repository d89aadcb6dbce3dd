import type { MarkMembers } from "@relicario/vault/element";
import type { NotedMark } from "@relicario/vault/mark";
import { useEffect, useState, type ReactNode } from "react";

import { MarkNotice } from "./MarkNotice.tsx";

interface VaultMarkProps {
  readonly mark: MarkMembers;
  /** A prompt, which takes nothing before the mark is shown. */
  readonly children: ReactNode;
}

/**
 * The mark of the account, read from the vault, above a prompt. Shows nothing until it is read, so
 * that the element has its whole height at once.
 */
export function VaultMark({ mark: members, children }: VaultMarkProps) {
  const [mark, setMark] = useState<NotedMark | null | "reading" | "unreadable">("reading");
  useEffect(() => {
    let isCurrent = true;
    members.read().then(
      (result) => {
        if (isCurrent) setMark(result);
      },
      () => {
        if (isCurrent) setMark("unreadable"); // the operation reports what is wrong with the vault
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [members]);
  if (mark === "reading") return null;
  if (mark === "unreadable") return children;
  const handleAcknowledge = () => {
    if (mark !== null) setMark({ ...mark, note: null });
    members.acknowledge().catch(() => undefined); // a full disk: the next prompt says it again
  };
  return (
    <>
      <MarkNotice mark={mark} onAcknowledge={handleAcknowledge} />
      {children}
    </>
  );
}
