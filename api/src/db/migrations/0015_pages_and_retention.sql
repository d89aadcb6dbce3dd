DROP INDEX "share_recipients_by_time";--> statement-breakpoint
DROP INDEX "shares_of_secret";--> statement-breakpoint
CREATE INDEX "requests_by_time" ON "requests" USING btree ("account_id","created_at","request_id");--> statement-breakpoint
CREATE INDEX "requests_without_content" ON "requests" USING btree ("expires_at") WHERE document is null and answer_id is null;--> statement-breakpoint
CREATE INDEX "sessions_by_end" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "share_recipients_by_age" ON "share_recipients" USING btree ("added_at");--> statement-breakpoint
CREATE INDEX "shares_without_ticket" ON "shares" USING btree ("expires_at") WHERE ticket is null;--> statement-breakpoint
CREATE INDEX "share_recipients_by_time" ON "share_recipients" USING btree ("account_id","added_at","share_id");--> statement-breakpoint
CREATE INDEX "shares_of_secret" ON "shares" USING btree ("account_id","secret_id","created_at","share_id");