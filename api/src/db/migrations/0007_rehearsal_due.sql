ALTER TABLE "accounts" ADD COLUMN "rehearsal_due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "rehearsal_mail_for" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "accounts_by_rehearsal" ON "accounts" USING btree ("rehearsal_due_at") WHERE rehearsal_due_at is not null;