import { z } from "zod";

import { maxInvoices } from "./limits.ts";
import { Timestamp } from "./wire.ts";

/** `open`: to be paid; `void`: cancelled; `uncollectible`: written off. */
export const InvoiceState = z.enum(["draft", "open", "paid", "void", "uncollectible"]);
export type InvoiceState = z.infer<typeof InvoiceState>;

export const Invoice = z.strictObject({
  id: z.string().min(1).max(100),
  /** Invoice number as printed on the invoice. */
  number: z.string().min(1).max(100),
  issued_at: Timestamp,
  /** Decimal amount in the currency, such as `12.10`. */
  amount: z.string().regex(/^-?\d{1,12}(\.\d{1,4})?$/),
  /** ISO 4217, such as `EUR`. */
  currency: z.string().regex(/^[A-Z]{3}$/),
  state: InvoiceState,
  /** URL of the invoice. */
  href: z
    .url({ protocol: /^https$/ })
    .max(2_000)
    .optional(),
});
export type Invoice = z.infer<typeof Invoice>;

/** Response of `GET /user/billing`. Sizes in bytes; newest invoice first. */
export const Billing = z.strictObject({
  plan: z.string().min(1).max(100),
  use: z.strictObject({
    storage_quota: z.int().min(0),
    storage_used: z.int().min(0),
    secrets: z.int().min(0),
    shares: z.int().min(0),
  }),
  invoices: z.array(Invoice).max(maxInvoices),
});
export type Billing = z.infer<typeof Billing>;

/**
 * Response of an operator's billing system for an account. The system serves it as JSON at
 * `BILLING_URL` (docs/operations.md).
 */
export const BillingRecord = Billing.pick({ plan: true, invoices: true });
export type BillingRecord = z.infer<typeof BillingRecord>;
