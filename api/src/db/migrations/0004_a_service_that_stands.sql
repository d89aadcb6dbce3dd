CREATE TABLE "public_ids" (
	"public_id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"account_id" uuid NOT NULL,
	CONSTRAINT "public_id_is_128_bits" CHECK ("public_ids"."public_id" ~ '^[A-Za-z0-9_-]{22}$')
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "locked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "user_names" ADD COLUMN "released_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "version_objects" ADD COLUMN "sha256" "bytea";--> statement-breakpoint
CREATE INDEX "user_names_released" ON "user_names" USING btree ("released_at") WHERE released_at is not null;--> statement-breakpoint
UPDATE "version_objects" AS o SET "sha256" = v."content_sha256" FROM "secret_versions" AS v WHERE v."account_id" = o."account_id" AND v."secret_id" = o."secret_id" AND v."version" = o."version" AND o."part" = 1 AND v."size" <= v."part_size";--> statement-breakpoint
UPDATE "accounts" AS "a" SET "storage_used" =
    (SELECT coalesce(sum("size" + octet_length("ticket")), 0) FROM "secret_versions" WHERE "account_id" = "a"."id" AND "dropped_at" IS NULL)
  + (SELECT coalesce(sum("size"), 0) FROM "uploads" WHERE "account_id" = "a"."id" AND "published_version" IS NULL)
  + (SELECT coalesce(sum(octet_length("label")), 0) FROM "secrets" WHERE "account_id" = "a"."id")
  + (SELECT coalesce(sum(octet_length("state") + octet_length("book") + octet_length("shares") + coalesce(octet_length("requests"), 0) + octet_length("key_statement")), 0) FROM "keyrings" WHERE "account_id" = "a"."id")
  + (SELECT coalesce(sum(octet_length("state")), 0) FROM "keyring_states" WHERE "account_id" = "a"."id")
  + (SELECT coalesce(sum(octet_length("value")), 0) FROM "keyring_former" WHERE "account_id" = "a"."id")
  + (SELECT coalesce(sum(octet_length("slot")), 0) FROM "slots" WHERE "account_id" = "a"."id")
  + (SELECT coalesce(sum(octet_length("sealed_helper")), 0) FROM "image_records" WHERE "account_id" = "a"."id");
