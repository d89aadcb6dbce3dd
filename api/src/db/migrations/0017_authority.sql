DROP INDEX "secrets_in_trash";--> statement-breakpoint
ALTER TABLE "secrets" ADD COLUMN "trash_confirmed_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "secrets_in_trash" ON "secrets" USING btree ("trash_confirmed_at") WHERE "secrets"."trash_confirmed_at" is not null and "secrets"."dropped_at" is null;