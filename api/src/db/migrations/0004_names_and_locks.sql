ALTER TABLE "accounts" ADD COLUMN "locked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "user_names" ADD COLUMN "released_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "user_names_released" ON "user_names" USING btree ("released_at") WHERE released_at is not null;