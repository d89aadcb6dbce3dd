import type { BackupDraft } from "./backup-draft.ts";

export type DraftLossReason = "reload" | "lock";

export interface StepProps {
  readonly draft: BackupDraft;
  readonly lossReason: DraftLossReason | null;
  /** Merges these members into the draft. */
  readonly onChange: (changes: Partial<BackupDraft>) => void;
}
