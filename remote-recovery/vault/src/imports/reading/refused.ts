import type { ReadImport } from "@relicario/shared/contract";

export type Refusal = Extract<ReadImport, { status: "refused" }>["reason"];

/** Nothing of these files can be read. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly reason: Refusal;
  constructor(reason: Refusal, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}
