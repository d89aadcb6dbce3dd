import { desc } from "drizzle-orm";

import { CommandError, runCommand } from "../commands/run-command.ts";
import { feedback } from "../db/schema.ts";

/*
 * `pnpm --filter @relicario/api run feedback`: prints the newest hundred messages for the operator.
 * Needs only DATABASE_URL.
 */

runCommand("feedback", async (db, args) => {
  if (args.length > 0) throw new CommandError("usage: feedback", 64);
  const rows = await db.select().from(feedback).orderBy(desc(feedback.createdAt)).limit(100);
  // JSON keeps control characters in the messages from the terminal.
  const lines = rows.map(
    ({ createdAt, rating, page, appVersion, message }) =>
      `${createdAt.toISOString()} ${rating === null ? "-" : `${String(rating)}/5`} ${page} ${appVersion} ${JSON.stringify(message)}`,
  );
  return lines.length === 0 ? "feedback: no messages" : lines.join("\n");
});
