CREATE TABLE "email_validations" (
	"account_id" uuid PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"address" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mails" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"kind" text NOT NULL,
	"address" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "mails_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE TABLE "upload_parts" (
	"account_id" uuid NOT NULL,
	"upload_id" uuid NOT NULL,
	"part" integer NOT NULL,
	"sha256" "bytea" NOT NULL,
	"object_key" text NOT NULL,
	CONSTRAINT "upload_parts_account_id_upload_id_part_pk" PRIMARY KEY("account_id","upload_id","part")
);
--> statement-breakpoint
CREATE TABLE "uploads" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"secret_id" uuid NOT NULL,
	"base_version" integer,
	"size" bigint NOT NULL,
	"part_size" bigint NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"content_sha256" "bytea",
	"published_version" integer,
	"published_state_rev" bigint,
	"published_call_sha256" "bytea",
	CONSTRAINT "uploads_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE TABLE "version_objects" (
	"account_id" uuid NOT NULL,
	"secret_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"part" integer NOT NULL,
	"object_key" text NOT NULL,
	CONSTRAINT "version_objects_account_id_secret_id_version_part_pk" PRIMARY KEY("account_id","secret_id","version","part")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "language" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "trash_mail_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "secret_versions" ADD COLUMN "part_size" bigint;--> statement-breakpoint
UPDATE "secret_versions" SET "part_size" = "size";--> statement-breakpoint
ALTER TABLE "secret_versions" ALTER COLUMN "part_size" SET NOT NULL;--> statement-breakpoint
INSERT INTO "version_objects" SELECT "account_id", "secret_id", "version", 1, "object_key" FROM "secret_versions";--> statement-breakpoint
ALTER TABLE "secrets" ADD COLUMN "drop_warned_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "secrets" ADD COLUMN "dropped_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "mails_by_due" ON "mails" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "uploads_by_end" ON "uploads" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "secrets_in_trash" ON "secrets" USING btree ("deleted_at") WHERE "secrets"."deleted_at" is not null and "secrets"."dropped_at" is null;--> statement-breakpoint
ALTER TABLE "secret_versions" DROP COLUMN "object_key";