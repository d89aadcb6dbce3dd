CREATE TABLE "secrets_set_aside" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"version" integer NOT NULL,
	"label" text NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"set_aside_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "secrets_set_aside_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE TABLE "start_anews" (
	"account_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"asked_at" timestamp (3) with time zone NOT NULL,
	"ready_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"ending" text,
	CONSTRAINT "start_anews_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE INDEX "secrets_set_aside_by_time" ON "secrets_set_aside" USING btree ("set_aside_at");--> statement-breakpoint
CREATE INDEX "start_anews_ended" ON "start_anews" USING btree ("ended_at") WHERE ended_at is not null;