CREATE TABLE "measurements" (
	"remote" text NOT NULL,
	"day" date NOT NULL,
	"release" text NOT NULL,
	"phase" text NOT NULL,
	"route" text NOT NULL,
	"code" text NOT NULL,
	"count" bigint NOT NULL,
	"classes" integer[] NOT NULL,
	CONSTRAINT "measurements_remote_day_release_phase_route_code_pk" PRIMARY KEY("remote","day","release","phase","route","code")
);
--> statement-breakpoint
CREATE INDEX "measurements_by_day" ON "measurements" USING btree ("day");