CREATE TABLE "staged_rows" (
	"account_id" uuid NOT NULL,
	"stage_id" uuid NOT NULL,
	"secret_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"row_sha256" "bytea" NOT NULL,
	"label" text,
	"key_epoch" bigint,
	"ticket" "bytea",
	"object_key" text,
	"content_sha256" "bytea",
	"size" bigint,
	"before_label_sha256" "bytea",
	"before_ticket_sha256" "bytea" NOT NULL,
	CONSTRAINT "staged_rows_account_id_stage_id_secret_id_version_pk" PRIMARY KEY("account_id","stage_id","secret_id","version")
);
--> statement-breakpoint
CREATE TABLE "stages" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "stages_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE INDEX "stages_by_end" ON "stages" USING btree ("expires_at");