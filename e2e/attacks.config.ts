import { defineConfig } from "@playwright/test";

import stories from "./playwright.config.ts";

/** What attackers want: `pnpm test:attacks`. As the stories, one after the other. */
export default defineConfig(stories, { testDir: "attacks", workers: 1 });
