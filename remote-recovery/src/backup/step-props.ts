import type { BackupDraft } from "./backup-draft.ts";

/** Why what was chosen before is gone; said once, in words. */
export type DraftLossReason = "reload" | "lock";

/** A step of the backup flow: it shows the draft and changes it. */
export interface StepProps {
  readonly draft: BackupDraft;
  readonly lossReason: DraftLossReason | null;
  /** Changes these members, and leaves the others. */
  readonly onChange: (changes: Partial<BackupDraft>) => void;
}
