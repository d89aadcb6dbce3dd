CREATE TABLE "public_ids" (
	"public_id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"account_id" uuid NOT NULL,
	CONSTRAINT "public_id_is_128_bits" CHECK ("public_ids"."public_id" ~ '^[A-Za-z0-9_-]{22}$')
);
