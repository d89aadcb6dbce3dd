import { desc } from "drizzle-orm";

import { CommandError, runCommand } from "../commands/run-command.ts";
import { feedback } from "../db/schema.ts";

/*
 * `pnpm --filter @relicario/api run feedback`, for whoever runs the service: what people wrote, the
 * newest first, a hundred at most. It asks for DATABASE_URL alone.
 */

runCommand("feedback", async (db, args) => {
  if (args.length > 0) throw new CommandError("usage: feedback", 64);
  const rows = await db.select().from(feedback).orderBy(desc(feedback.createdAt)).limit(100);
  // As JSON: control characters of what strangers wrote do not reach the terminal.
  const lines = rows.map(
    ({ createdAt, rating, page, appVersion, message }) =>
      `${createdAt.toISOString()} ${rating === null ? "-" : `${String(rating)}/5`} ${page} ${appVersion} ${JSON.stringify(message)}`,
  );
  return lines.length === 0 ? "feedback: nobody wrote" : lines.join("\n");
});
