CREATE TABLE "activity" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"kind" text NOT NULL,
	"count" integer DEFAULT 1 NOT NULL,
	"secret" text,
	"device" text,
	"address" text,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "activity_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "mails_off" text[] DEFAULT '{}'::text[] NOT NULL;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "telemetry_off" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "deletion_due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "device" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "address" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "signed_in_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "closed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "shares" ADD COLUMN "end_mail_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "activity_by_time" ON "activity" USING btree ("at");--> statement-breakpoint
CREATE INDEX "accounts_by_deletion" ON "accounts" USING btree ("deletion_due_at") WHERE deletion_due_at is not null;--> statement-breakpoint
CREATE INDEX "public_ids_of_account" ON "public_ids" USING btree ("account_id");