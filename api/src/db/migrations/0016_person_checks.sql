DROP INDEX "sessions_by_provider";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "person_checked_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "person_check_started_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "sessions_by_provider" ON "sessions" USING btree ("provider_session","account_id");