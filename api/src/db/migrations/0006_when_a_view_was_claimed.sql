DROP INDEX "share_claims_by_time";--> statement-breakpoint
ALTER TABLE "share_claims" ADD COLUMN "used_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
CREATE INDEX "share_claims_by_use" ON "share_claims" USING btree ("used_at");