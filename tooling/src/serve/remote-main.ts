/** Environment: REMOTE_FOLDER, REMOTE_HOST, REMOTE_PORT. */
import { z } from "zod";

import { readEnvironment } from "./environment.ts";
import { buildRemoteServer } from "./remote-server.ts";
import { serve } from "./serve.ts";

const settings = readEnvironment("static server", {
  REMOTE_FOLDER: z.string().min(1),
  REMOTE_HOST: z.string().min(1).default("127.0.0.1"),
  REMOTE_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
});

await serve(await buildRemoteServer({ folder: settings.REMOTE_FOLDER }), {
  host: settings.REMOTE_HOST,
  port: settings.REMOTE_PORT,
});
