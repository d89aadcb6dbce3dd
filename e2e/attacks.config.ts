import { defineConfig } from "@playwright/test";

import baseConfig from "./playwright.config.ts";

/** What attackers want: `pnpm test:attacks`. As the stories, one after the other. */
export default defineConfig(baseConfig, { testDir: "attacks", workers: 1 });
