import { randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { startContainers } from "@relicario/tooling/containers/testing";
import { createAdminCall } from "@relicario/tooling/keycloak";
import { expect, test } from "@playwright/test";
import { z } from "zod";

import { createUser, signIn } from "../keycloak/keycloak-test.ts";
import { logOut } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { choosePicture, pressButton } from "../pages/picture-field.ts";
import { answerDeviceQuestion, chooseAction, openList, protect, revealSecret, row } from "../pages/secrets.ts";
import { disableTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { createReleaseTools } from "../support/releases.ts";

const portalOrigin = "https://portal.localhost";
const title = "Diary";
const content = "what only I read";
const Mails = z.object({
  messages: z.array(z.object({ Subject: z.string(), To: z.array(z.object({ Address: z.string() })) })),
});
const createSecret = (): string => randomBytes(24).toString("base64url");

test("the full profile of compose.yaml signs in, protects, sends mails, shares with one service and one gateway stopped, and promotes a release", async ({
  browser,
  page,
}) => {
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-compose-"));
  const administrator = { username: "admin", password: createSecret() };
  const containers = await startContainers(
    "full",
    {
      POSTGRES_PASSWORD: createSecret(),
      SERVICE_CLIENT_SECRET: createSecret(),
      STORE_SECRET: createSecret(),
      KEYCLOAK_PASSWORD: administrator.password,
      METRICS_TOKEN: createSecret(),
    },
    folder,
  );
  try {
    const call = createAdminCall(`http://${containers.getAddress("keycloak")}:8080`, administrator);
    const user = await createUser({ call });
    const email = `${user.userName}@example.org`;
    const readSubjects = async (): Promise<string[]> => {
      const response = await fetch(`http://${containers.getAddress("mail")}:8025/api/v1/messages`);
      return Mails.parse(await response.json())
        .messages.filter(({ To }) => To.some(({ Address }) => Address === email))
        .map(({ Subject }) => Subject);
    };

    await test.step("a person signs in at Keycloak and protects a secret, which the bucket stores", async () => {
      await signIn(page, user, portalOrigin);
      await protect(page, { text: content, title, tags: [], image: { file: photographs.small, passphrase: null } });
      await answerDeviceQuestion(page, "My own device");
      await openList(page);
      await expect(row(page, title)).toBeVisible();
      expect(await readdir(containers.getVolumeFolder("bucket"), { recursive: true })).not.toEqual([]);
    });

    await test.step("mails of the service and of Keycloak arrive", async () => {
      await call("PUT", `/users/${user.id}/execute-actions-email`, ["UPDATE_PASSWORD"]);
      await expect.poll(readSubjects).toHaveLength(2);
      expect((await readSubjects()).sort()).toEqual([
        "Update Your Account",
        "Your ways to open Relicario have changed",
      ]);
    });

    await test.step("a stranger opens a link, while one service and one gateway are stopped", async () => {
      await containers.stop("service-1");
      await containers.stop("gateway-1");
      await chooseAction(page, title, "Share");
      await choosePicture(page, photographs.small);
      const password = (await page.getByLabel("Suggested password").textContent()) ?? "";
      await pressButton(page, "Create link");
      await expect(page.getByRole("heading", { name: "Your link is ready" })).toBeVisible({ timeout: 90_000 });
      const link = (await page.getByLabel("Link", { exact: true }).textContent()) ?? "";
      expect(link).toContain(`${portalOrigin}/`);
      const visitor = await (await browser.newContext({ ignoreHTTPSErrors: true, locale: "en-GB" })).newPage();
      await disableTours(visitor);
      await visitor.goto(link);
      await visitor.getByRole("textbox", { name: "Password" }).fill(password);
      await visitor.getByRole("button", { name: "Open", exact: true }).click();
      await expect(visitor.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
      expect(await revealSecret(visitor)).toBe(content);
    });

    await test.step("the operator imports a release, promotes it and rolls it back in the signer's container", async () => {
      const dataDir = path.join(folder, "team");
      await mkdir(dataDir);
      await symlink(containers.getVolumeFolder("deployments"), path.join(dataDir, "deployments"));
      await cp(containers.getVolumeFolder("releases"), path.join(dataDir, "releases"), { recursive: true });
      const team = createReleaseTools({ dataDir });
      const release = await team.createChangedRelease("settings", "locales/en/settings.json", (text) =>
        text.replace('"title": "Profile"', '"title": "Profile, second release"'),
      );
      const operate = (...words: readonly string[]): Promise<string> =>
        containers.exec("full-deployment-signer", "tooling/src/portal/main.ts", ...words);
      expect(await operate("import", team.folderOf(release))).toContain(release);
      await operate("promote", release);
      await page.reload();
      await navigateInApp(page, "/settings/profile");
      await expect(page.getByRole("heading", { level: 1, name: "Profile, second release" })).toBeVisible();
      await operate("rollback", "settings");
      await page.reload();
      await expect(page.getByRole("heading", { level: 1, name: "Profile", exact: true })).toBeVisible();
      expect(await operate("log")).toMatch(/ import [^]* promote [^]* rollback /);
    });

    await logOut(page);
    await expect(page.getByLabel("Username or email")).toBeVisible();
  } finally {
    await containers.stopAll();
  }
  await rm(folder, { recursive: true, force: true }); // a failed test leaves its logs
});
