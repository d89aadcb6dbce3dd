import type { ConformanceSettings } from "@relicario/shared/testing";

export const conformanceSettings: ConformanceSettings = {
  vault: {
    secrets: [{ title: "Seed of the wallet", content: "abandon ability able", tags: ["keys"], favorite: true }],
  },
};
