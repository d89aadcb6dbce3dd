import type { ImportReadResult } from "@relicario/shared/contract";

export type RefusalReason = Extract<ImportReadResult, { status: "refused" }>["reason"];

/** Nothing of these files can be read. */
export class ImportRefusedError extends Error {
  override readonly name = "ImportRefusedError";
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}
