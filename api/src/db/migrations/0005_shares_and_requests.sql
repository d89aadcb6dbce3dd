CREATE TABLE "answers" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"request_id" text NOT NULL,
	"size" bigint NOT NULL,
	"part_size" bigint NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"content_sha256" "bytea",
	"finish_sha256" "bytea",
	CONSTRAINT "answers_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE TABLE "requests" (
	"account_id" uuid NOT NULL,
	"request_id" text NOT NULL,
	"document" text,
	"link_auth_sha256" "bytea" NOT NULL,
	"max_size" bigint NOT NULL,
	"notify" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	"provided_at" timestamp (3) with time zone,
	"collected_at" timestamp (3) with time zone,
	"answer_id" uuid,
	"ticket" "bytea",
	CONSTRAINT "requests_account_id_request_id_pk" PRIMARY KEY("account_id","request_id")
);
--> statement-breakpoint
CREATE TABLE "share_claims" (
	"account_id" uuid NOT NULL,
	"share_id" text NOT NULL,
	"claim_id" text NOT NULL,
	"opened_by" uuid,
	"claimed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "share_claims_account_id_share_id_claim_id_pk" PRIMARY KEY("account_id","share_id","claim_id")
);
--> statement-breakpoint
CREATE TABLE "share_recipients" (
	"account_id" uuid NOT NULL,
	"share_id" text NOT NULL,
	"owner_id" uuid NOT NULL,
	"added_at" timestamp (3) with time zone NOT NULL,
	"opened_at" timestamp (3) with time zone,
	CONSTRAINT "share_recipients_account_id_share_id_pk" PRIMARY KEY("account_id","share_id")
);
--> statement-breakpoint
CREATE TABLE "share_reports" (
	"account_id" uuid NOT NULL,
	"share_id" text NOT NULL,
	"id" uuid NOT NULL,
	"reason" text NOT NULL,
	"message" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "share_reports_account_id_share_id_id_pk" PRIMARY KEY("account_id","share_id","id")
);
--> statement-breakpoint
CREATE TABLE "shares" (
	"account_id" uuid NOT NULL,
	"share_id" text NOT NULL,
	"secret_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"audience" text NOT NULL,
	"recipient_id" uuid,
	"ticket" "bytea",
	"ticket_sha256" "bytea" NOT NULL,
	"link_auth_sha256" "bytea",
	"pass_auth_sha256" "bytea",
	"password" boolean NOT NULL,
	"picture" boolean NOT NULL,
	"share_helper" "bytea",
	"expires_at" timestamp (3) with time zone NOT NULL,
	"max_views" integer,
	"views" integer DEFAULT 0 NOT NULL,
	"wrong_passwords" integer DEFAULT 0 NOT NULL,
	"notify" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_opened_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "shares_account_id_share_id_pk" PRIMARY KEY("account_id","share_id")
);
--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "share_id" text;--> statement-breakpoint
CREATE INDEX "answers_of_request" ON "answers" USING btree ("account_id","request_id");--> statement-breakpoint
CREATE INDEX "answers_by_end" ON "answers" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "requests_collected" ON "requests" USING btree ("collected_at") WHERE answer_id is not null;--> statement-breakpoint
CREATE INDEX "requests_with_document" ON "requests" USING btree ("expires_at") WHERE document is not null;--> statement-breakpoint
CREATE INDEX "share_claims_by_time" ON "share_claims" USING btree ("claimed_at");--> statement-breakpoint
CREATE INDEX "share_recipients_by_time" ON "share_recipients" USING btree ("account_id","added_at");--> statement-breakpoint
CREATE INDEX "shares_of_secret" ON "shares" USING btree ("account_id","secret_id");--> statement-breakpoint
CREATE INDEX "shares_with_ticket" ON "shares" USING btree ("expires_at") WHERE ticket is not null;