ALTER TABLE "secret_versions" ALTER COLUMN "ticket" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "secret_versions" ADD COLUMN "ticket_sha256" "bytea";--> statement-breakpoint
UPDATE "secret_versions" SET "ticket_sha256" = sha256("ticket");--> statement-breakpoint
ALTER TABLE "secret_versions" ALTER COLUMN "ticket_sha256" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "secret_versions" ADD COLUMN "dropped_at" timestamp (3) with time zone;