CREATE TABLE "device_links" (
	"account_id" uuid NOT NULL,
	"link_id" text NOT NULL,
	"message" text NOT NULL,
	"filled_by" uuid NOT NULL,
	"answer" text,
	"answered_by" uuid,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "device_links_account_id_link_id_pk" PRIMARY KEY("account_id","link_id")
);
--> statement-breakpoint
CREATE INDEX "device_links_by_end" ON "device_links" USING btree ("expires_at");