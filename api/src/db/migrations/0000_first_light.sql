CREATE TABLE "accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"vendor_id" text NOT NULL,
	"user_name" text NOT NULL,
	"username" text NOT NULL,
	"contact_email" text,
	"contact_email_verified" boolean DEFAULT false NOT NULL,
	"plan" text DEFAULT 'free' NOT NULL,
	"storage_used" bigint DEFAULT 0 NOT NULL,
	"changes" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identities" (
	"vendor_id" text NOT NULL,
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"account_id" uuid NOT NULL,
	CONSTRAINT "identities_vendor_id_issuer_subject_pk" PRIMARY KEY("vendor_id","issuer","subject")
);
--> statement-breakpoint
CREATE TABLE "image_records" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"sealed_helper" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "image_records_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE TABLE "keyring_former" (
	"account_id" uuid NOT NULL,
	"state_rev" bigint NOT NULL,
	"part" text NOT NULL,
	"part_id" text NOT NULL,
	"value" "bytea" NOT NULL,
	"ended_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "keyring_former_account_id_state_rev_part_part_id_pk" PRIMARY KEY("account_id","state_rev","part","part_id")
);
--> statement-breakpoint
CREATE TABLE "keyring_states" (
	"account_id" uuid NOT NULL,
	"state_rev" bigint NOT NULL,
	"state" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "keyring_states_account_id_state_rev_pk" PRIMARY KEY("account_id","state_rev")
);
--> statement-breakpoint
CREATE TABLE "keyrings" (
	"account_id" uuid PRIMARY KEY NOT NULL,
	"key_epoch" bigint NOT NULL,
	"state_rev" bigint NOT NULL,
	"state" text NOT NULL,
	"book" text NOT NULL,
	"shares" text NOT NULL,
	"key_statement" text NOT NULL,
	"last_change_sha256" "bytea" NOT NULL,
	"last_call_sha256" "bytea" NOT NULL,
	"last_secret_id" uuid,
	"last_version" integer,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "loose_objects" (
	"account_id" uuid NOT NULL,
	"object_key" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "loose_objects_account_id_object_key_pk" PRIMARY KEY("account_id","object_key")
);
--> statement-breakpoint
CREATE TABLE "purged_secrets" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"change" bigint NOT NULL,
	CONSTRAINT "purged_secrets_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE TABLE "rate_limits" (
	"subject" text NOT NULL,
	"rule" text NOT NULL,
	"window_start" timestamp (3) with time zone NOT NULL,
	"calls" integer NOT NULL,
	CONSTRAINT "rate_limits_subject_rule_window_start_pk" PRIMARY KEY("subject","rule","window_start")
);
--> statement-breakpoint
CREATE TABLE "secret_versions" (
	"account_id" uuid NOT NULL,
	"secret_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"ticket" "bytea" NOT NULL,
	"object_key" text NOT NULL,
	"content_sha256" "bytea" NOT NULL,
	"size" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "secret_versions_account_id_secret_id_version_pk" PRIMARY KEY("account_id","secret_id","version")
);
--> statement-breakpoint
CREATE TABLE "secrets" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"version" integer NOT NULL,
	"favorite" boolean DEFAULT false NOT NULL,
	"label" text NOT NULL,
	"size" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"change" bigint NOT NULL,
	CONSTRAINT "secrets_account_id_id_pk" PRIMARY KEY("account_id","id"),
	CONSTRAINT "version_begins_at_1" CHECK ("secrets"."version" >= 1)
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"provider_session" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "sessions_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE TABLE "slots" (
	"account_id" uuid NOT NULL,
	"opener_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"slot" "bytea" NOT NULL,
	CONSTRAINT "slots_account_id_opener_id_pk" PRIMARY KEY("account_id","opener_id")
);
--> statement-breakpoint
CREATE TABLE "user_names" (
	"vendor_id" text NOT NULL,
	"name_key" text NOT NULL,
	"account_id" uuid NOT NULL,
	CONSTRAINT "user_names_vendor_id_name_key_pk" PRIMARY KEY("vendor_id","name_key")
);
--> statement-breakpoint
CREATE INDEX "keyring_former_by_end" ON "keyring_former" USING btree ("ended_at");--> statement-breakpoint
CREATE INDEX "loose_objects_by_due" ON "loose_objects" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "purged_secrets_by_change" ON "purged_secrets" USING btree ("account_id","change");--> statement-breakpoint
CREATE INDEX "rate_limits_by_window" ON "rate_limits" USING btree ("window_start");--> statement-breakpoint
CREATE INDEX "secrets_by_change" ON "secrets" USING btree ("account_id","change");--> statement-breakpoint
CREATE INDEX "sessions_by_provider" ON "sessions" USING btree ("account_id","provider_session");