import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, test } from "@playwright/test";
import { startPortal } from "@relicario/tooling/portal";

import { newAccount, signUp } from "../pages/account.ts";

import { createReleaseTools } from "../support/releases.ts";
import { createThirdPartyRemote } from "../support/third-party-remote.ts";

test("a team signs its remote where it builds it, and an operator trusts, imports and promotes it", async ({
  browser,
}) => {
  test.setTimeout(600_000);
  const dataDir = await mkdtemp(path.join(tmpdir(), "relicario-e2e-"));
  const team = await createThirdPartyRemote();
  let portal = await startPortal({ port: 0, dataDir });
  try {
    const [build, signed] = [await team.runBuild(), await team.sign()];
    for (const result of [build, signed]) expect(result.ok, result.output).toBe(true);
    const folder = path.join(team.folder, signed.output.trim().split("\n").at(-1) ?? "");
    const runCommand = (...words: readonly string[]) => createReleaseTools(portal).runCommand(...words);
    expect(await runCommand("import", folder)).toMatchObject({
      ok: false,
      output: expect.stringContaining("is not signed by a key of the team of garden"),
    });
    const publicKey = path.join(team.folder, "team-key.public.json");
    expect(await runCommand("trust", "garden", "--key", publicKey)).toMatchObject({ ok: true });
    await portal.stop(); // pages learn the key at the gateway's next start
    portal = await startPortal({ port: 0, dataDir });
    const imported = await runCommand("import", folder);
    expect(imported).toMatchObject({ ok: true });
    expect(await runCommand("promote", imported.output.trim())).toMatchObject({ ok: true });

    const page = await browser.newPage({ baseURL: portal.origin });
    await signUp(page, newAccount());
    await page.goto("/garden");
    await expect(page.getByRole("heading", { level: 1, name: "Garden" })).toBeVisible();

    await test.step("the portal still runs it after a start", async () => {
      await portal.stop();
      portal = await startPortal({ port: 0, dataDir });
      expect(await createReleaseTools(portal).findStableRelease("garden")).toBe(imported.output.trim());
    });
  } finally {
    await portal.stop();
    await team.remove();
    await rm(dataDir, { recursive: true, force: true });
  }
});
