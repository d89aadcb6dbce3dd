import type { ImportReadResult, UnreadableFormat } from "@relicario/shared/contract";

export type Refusal = Extract<ImportReadResult, { status: "refused" }>;
export type RefusalReason = Exclude<Refusal["reason"], "unreadable_format">;

/** Thrown when nothing in the files can be read. */
export class ImportRefusedError extends Error {
  override readonly name = "ImportRefusedError";
  readonly reason: Refusal["reason"];
  readonly refusal: Refusal;

  constructor(reason: RefusalReason | { readonly unreadable: UnreadableFormat }, options?: ErrorOptions) {
    const refusal: Refusal =
      typeof reason === "string"
        ? { status: "refused", reason }
        : { status: "refused", reason: "unreadable_format", format: reason.unreadable };
    super(refusal.reason, options);
    this.reason = refusal.reason;
    this.refusal = refusal;
  }
}
