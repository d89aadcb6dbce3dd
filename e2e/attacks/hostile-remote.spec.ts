/**
 * Attacker: the team of another remote, whose code runs in the portal's page. Wants keys and ways
 * to open, the vault's storage and workers. Each attack is made in three engines while a person
 * protects, locks and unlocks; `hostile/expectations.ts` says what it does today.
 */
import { engines, type EngineName } from "../support/engines/engine.ts";
import { runCampaign, type CampaignResult } from "./hostile/campaign.ts";
import { attackNames, getExpectation } from "./hostile/expectations.ts";
import { expect, test as base } from "./hostile/hostile-portal.ts";

const test = base.extend<
  object,
  {
    /** Once for each engine, at first use. */
    readonly attack: (engine: EngineName) => Promise<CampaignResult>;
  }
>({
  attack: [
    async ({ portal }, use) => {
      const campaigns = new Map<EngineName, Promise<CampaignResult>>();
      await use((engine) => {
        const campaign = campaigns.get(engine) ?? runCampaign(engine, portal);
        campaigns.set(engine, campaign);
        return campaign;
      });
    },
    { scope: "worker" },
  ],
});

for (const engine of Object.keys(engines) as EngineName[]) {
  test.describe(`in ${engine}`, () => {
    for (const attackName of attackNames) {
      const expectation = getExpectation(attackName, engine);
      test(`${attackName}: ${expectation ?? "cannot be driven here"}`, async ({ attack }) => {
        const results = await attack(engine);
        const taken = results.get(attackName) ?? null;
        test.info().annotations.push({ type: "taken", description: taken ?? "nothing" });
        expect(results.has(attackName)).toBe(expectation !== null);
        if (expectation === "succeeds") expect(taken).toEqual(expect.any(String));
        else expect(taken).toBeNull();
      });
    }
  });
}
