CREATE TABLE "feedback" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"rating" integer,
	"message" text NOT NULL,
	"page" text NOT NULL,
	"app_version" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "feedback_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE INDEX "feedback_by_time" ON "feedback" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "identities_by_account" ON "identities" USING btree ("account_id");