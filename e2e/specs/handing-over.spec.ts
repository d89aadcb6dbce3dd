import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { choosePicture, changeInput, pictureField } from "../pages/picture-field.ts";
import { answerDeviceQuestion, openRecovery, revealSecret, showPicture } from "../pages/secrets.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";
import { createSentinel } from "../support/sentinel.ts";

interface Application {
  readonly origin: string;
  readonly stop: () => void;
}

/** Another application, with an origin of its own. */
async function startApplication(respond: (path: string) => { html?: string; headers?: Record<string, string> }) {
  const server: Server = createServer((request, response) => {
    const { html, headers } = respond(request.url ?? "/");
    response
      .writeHead(headers?.["location"] === undefined ? 200 : 302, { "content-type": "text/html", ...headers })
      .end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  } satisfies Application;
}

const startHandover = async (page: Page, name: string): Promise<Page> => {
  const opened = page.waitForEvent("popup");
  await page.getByRole("button", { name: `Get it from ${name}` }).click();
  return opened;
};

test("a secret comes from another application by message: from its window and origin alone, and in no address", async ({
  page,
  portal,
}) => {
  const [text, title] = [`legal winner ${createSentinel()}`, `Wallet ${createSentinel()}`];
  const addresses: string[] = [];
  page.context().on("request", (request) => addresses.push(request.url()));
  const message = JSON.stringify({ relicario: "secret", name: title, text });
  const handOver = `<button onclick='opener.postMessage(${message}, "${portal.origin}")'>Hand over</button>`;
  const stranger = await startApplication(() => ({ html: handOver }));
  const notes = await startApplication((path) =>
    path === "/elsewhere"
      ? { headers: { location: stranger.origin } }
      : {
          html: handOver,
          ...(path === "/cut-off" && { headers: { "cross-origin-opener-policy": "same-origin" } }),
        },
  );
  const restore = await createReleaseTools(portal).patchDeployment({
    handovers: [
      { name: "Notes", url: `${notes.origin}/hand-over` },
      { name: "Elsewhere", url: `${notes.origin}/elsewhere` },
      { name: "Cut off", url: `${notes.origin}/cut-off` },
    ],
  });
  try {
    await signUp(page, newAccount());
    await page.goto("/add-secret");
    const field = page.getByLabel("Your secret");

    await test.step("a page that was redirected to another origin hands nothing over", async () => {
      const popup = await startHandover(page, "Elsewhere");
      await popup.getByRole("button", { name: "Hand over" }).click();
      await expect(page.getByText("Waiting for Elsewhere")).toBeVisible();
      await expect(field).toBeDisabled();
      await popup.close();
      await expect(page.getByText("Elsewhere handed nothing over.")).toBeVisible();
      await expect(field).toHaveValue("");
    });

    await test.step("a page that cut itself off hands nothing over", async () => {
      const popup = await startHandover(page, "Cut off");
      await expect(page.getByText("Cut off handed nothing over.")).toBeVisible();
      await expect(field).toHaveValue("");
      await popup.close();
    });

    await test.step("the application that the deployment names fills in the form", async () => {
      const popup = await startHandover(page, "Notes");
      const closed = popup.waitForEvent("close");
      await popup.getByRole("button", { name: "Hand over" }).click();
      await closed;
      await expect(page.getByText("This came from Notes. Check it before you protect it.")).toBeVisible();
      await expect(field).toHaveValue(text);
      await expect(page.getByLabel("Title")).toHaveValue(title);
    });

    await test.step("it is protected, and opens with the picture", async () => {
      await choosePicture(page, photographs.small);
      await changeInput(page, () =>
        pictureField(page)
          .getByRole("checkbox", { name: /Continue without a passphrase/ })
          .check(),
      );
      await page.getByRole("checkbox", { name: /I have never protected anything in this account/ }).check();
      await page.getByRole("button", { name: "Protect", exact: true }).click();
      await expect(page).not.toHaveURL(/\/add-secret$/, { timeout: 90_000 });
      await answerDeviceQuestion(page, "My own device");
      await openRecovery(page, title);
      await showPicture(page, photographs.small, null);
      expect(await revealSecret(page)).toBe(text);
    });

    expect(addresses.filter((address) => [text, title].some((part) => address.includes(part.slice(-16))))).toEqual([]);
  } finally {
    await restore();
    notes.stop();
    stranger.stop();
  }
});
