import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeOwnShare,
  type FakeVaultSettings,
  wholeText,
} from "@relicario/shared/testing";
import SharePage from "./SharePage.tsx";

const secrets = [{ title: "Letter", content: "words" }];

/** Id of the fake vault's first secret. */
const firstSecretId = "01890a5d-ac96-7000-8000-000000000001";

async function renderPage(settings: FakeVaultSettings = {}, appSettings: Parameters<typeof renderApp>[1] = {}) {
  const vault = createFakeVault({ secrets, ...settings });
  const secretId = (await vault.list())[0]?.secretId ?? "";
  const app = await renderApp(<SharePage />, {
    routePattern: "/share/:secretId",
    path: `/share/${secretId}`,
    vault,
    ...appSettings,
  });
  await screen.findByText("Letter");
  return { ...app, vault, secretId };
}
const showOpener = async (text = "garden") => {
  const group = screen.getByRole("group", { name: "Your picture" });
  await userEvent.upload(within(group).getByLabelText("Choose a picture"), createPictureFile(text));
};
const submit = (name = "Create link") => userEvent.click(screen.getByRole("button", { name }));

describe("the form for a share", () => {
  it("creates a link with four proposed words, and shows link and password separately", async () => {
    const { vault, secretId } = await renderPage();
    const words = await screen.findByText(/^[a-z]+( [a-z]+){3}$/);
    const password = words.textContent;
    await showOpener();
    await submit();
    expect(await screen.findByRole("heading", { name: "Your link is ready" })).toHaveFocus();
    expect(screen.getByText(/\/shared\/.*#s=key$/)).toBeVisible();
    expect(screen.getByText(password)).toBeVisible();
    expect(screen.getByText(password)).toHaveAttribute("translate", "no");
    expect(screen.getByText(/Send it another way than the link/)).toBeVisible();
    const [share] = await vault.shares.listForSecret(secretId);
    expect(share).toMatchObject({
      audience: "public",
      maxViews: 1,
      hasPassword: true,
      hasPicture: false,
      state: "live",
    });
    await expectAccessible();
  });

  it("creates a link without a password on request", async () => {
    const { vault, secretId } = await renderPage();
    await userEvent.click(screen.getByRole("radio", { name: "No" }));
    await userEvent.click(screen.getByRole("radio", { name: "Anyone with the link who signs in" }));
    await userEvent.click(screen.getByRole("radio", { name: "No limit" }));
    await showOpener();
    await submit();
    await screen.findByRole("heading", { name: "Your link is ready" });
    expect(screen.queryByRole("button", { name: "Copy password" })).not.toBeInTheDocument();
    expect((await vault.shares.listForSecret(secretId))[0]).toMatchObject({
      audience: "signed_in",
      maxViews: null,
      hasPassword: false,
    });
  });

  it("shows an error for each missing value, and sends nothing", async () => {
    const { vault } = await renderPage();
    await userEvent.click(screen.getByRole("radio", { name: "Another number" }));
    await userEvent.click(screen.getByRole("checkbox", { name: "Ask for a picture as well" }));
    await submit();
    expect(await screen.findByText("Enter a whole number, 1 or more.")).toBeVisible();
    expect(screen.getByText("Choose the picture to ask for.")).toBeVisible();
    expect(
      screen.getByText("Choose a picture, a recovery code or a passkey first.", { selector: "[role=alert] *" }),
    ).toBeVisible();
    expect(vault.calls).not.toContain("shares.create");
    await expectAccessible();
  });

  it("rejects a recovery image as the share's picture, with an error at the picture field", async () => {
    const { vault } = await renderPage();
    vault.failWith("shares.create", "picture_is_opener");
    await userEvent.click(screen.getByRole("checkbox", { name: "Ask for a picture as well" }));
    const pictureInput = screen.getAllByLabelText("Choose a picture")[0];
    if (pictureInput === undefined) throw new Error("the page has no field of this name");
    await userEvent.upload(pictureInput, createPictureFile("garden"));
    await showOpener();
    await submit();
    expect(await screen.findByText(/This picture opens your own secrets/)).toBeVisible();
  });

  it("shares with a person, shows their safety words, and saves that they were compared", async () => {
    const { vault, secretId } = await renderPage({ people: [{ userName: "bruno" }] });
    await userEvent.click(screen.getByRole("radio", { name: "One person" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Their name in this portal" }), "bruno{Enter}");
    expect(await screen.findByText(/the service could be the real recipient/)).toBeVisible();
    expect(within(screen.getByRole("list", { name: "Safety words of bruno" })).getAllByRole("listitem")).toHaveLength(
      8,
    );
    expect(screen.queryByText("Ask for a password?")).not.toBeInTheDocument();
    await userEvent.click(
      screen.getByRole("checkbox", { name: /^I compared these words or their numbers with bruno/ }),
    );
    await showOpener();
    await submit("Share");
    await screen.findByRole("heading", { name: "Shared" });
    expect(screen.getByText(/\/p-shared\/[^#]*$/, { selector: "code" })).toBeVisible();
    expect((await vault.shares.listForSecret(secretId))[0]).toMatchObject({
      audience: "person",
      person: { userName: "bruno" },
    });
    expect((await vault.people.find("bruno")).trust).toBe("compared");
    await expectAccessible();
  });

  it("shows the new share even if saving the comparison fails, and reports that failure separately", async () => {
    const { vault, record } = await renderPage({ people: [{ userName: "bruno" }] });
    vault.failWith("people.setCompared", "service_unavailable");
    await userEvent.click(screen.getByRole("radio", { name: "One person" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Their name in this portal" }), "bruno{Enter}");
    await userEvent.click(
      await screen.findByRole("checkbox", { name: /^I compared these words or their numbers with bruno/ }),
    );
    await showOpener();
    await submit("Share");
    expect(await screen.findByRole("heading", { name: "Shared" })).toHaveFocus();
    await waitFor(() => {
      expect(record.notices).toEqual([
        {
          tone: "error",
          text: expect.stringMatching(/^Shared with \u2068bruno\u2069, but we couldn't save/) as string,
        },
      ]);
    });
    expect(vault.calls.filter((call) => call === "shares.create")).toHaveLength(1);
  });

  it("ignores a lookup result for a name that is no longer in the field", async () => {
    const vault = createFakeVault({ secrets, people: [{ userName: "bruno" }, { userName: "carla" }] });
    const pendingLookups: (() => void)[] = [];
    const find: typeof vault.people.find = async (name, options) => {
      const person = await vault.people.find(name, options);
      if (name === "bruno") await new Promise<void>((resolve) => pendingLookups.push(resolve));
      return person;
    };
    await renderApp(<SharePage />, {
      routePattern: "/share/:secretId",
      path: `/share/${firstSecretId}`,
      vault: { ...vault, people: { ...vault.people, find } },
    });
    await userEvent.click(await screen.findByRole("radio", { name: "One person" }));
    const name = screen.getByRole("textbox", { name: "Their name in this portal" });
    await userEvent.type(name, "bruno{Enter}");
    await waitFor(() => {
      expect(pendingLookups).toHaveLength(1);
    });
    await userEvent.clear(name);
    await userEvent.type(name, "carla");
    await act(async () => {
      pendingLookups[0]?.();
      await Promise.resolve();
    });
    expect(screen.queryByRole("list", { name: "Safety words of bruno" })).not.toBeInTheDocument();
    await userEvent.type(name, "{Enter}");
    expect(await screen.findByRole("list", { name: "Safety words of carla" })).toBeVisible();
    expect(screen.queryByRole("list", { name: "Safety words of bruno" })).not.toBeInTheDocument();
  });

  it("offers a link for signed-in people if no account has the name", async () => {
    await renderPage();
    await userEvent.click(screen.getByRole("radio", { name: "One person" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Their name in this portal" }), "nobody");
    await userEvent.click(screen.getByRole("button", { name: "Find" }));
    await userEvent.click(await screen.findByRole("button", { name: "Create a link that asks to sign in" }));
    expect(screen.getByRole("radio", { name: "Anyone with the link who signs in" })).toBeChecked();
  });

  it("shows old and new words of changed keys, and seals nothing until the new keys are trusted", async () => {
    const { vault } = await renderPage({ people: [{ userName: "bruno", trust: "changed" }] });
    await userEvent.click(screen.getByRole("radio", { name: "One person" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Their name in this portal" }), "bruno{Enter}");
    expect(await screen.findByText(wholeText("The keys of bruno have changed"))).toBeVisible();
    expect(screen.getByRole("list", { name: "Previous words" })).toBeVisible();
    expect(screen.getByRole("list", { name: "New words" })).toBeVisible();
    await showOpener();
    await submit("Share");
    expect(await screen.findByText("Decide about the changed keys first.")).toBeVisible();
    expect(vault.calls).not.toContain("shares.create");
    await userEvent.click(screen.getByRole("button", { name: /use the new keys$/ }));
    expect(await screen.findByText(wholeText("The keys of bruno have not changed"))).toBeVisible();
    await submit("Share");
    await screen.findByRole("heading", { name: "Shared" });
  });

  it("says that a secret in the trash is missing", async () => {
    const vault = createFakeVault({ secrets: [{ title: "Letter", content: "words", deleted: true }] });
    const secretId = (await vault.list())[0]?.secretId ?? "";
    await renderApp(<SharePage />, { routePattern: "/share/:secretId", path: `/share/${secretId}`, vault });
    expect(await screen.findByText("This secret is not available")).toBeVisible();
  });

  it("asks to unlock a locked device, and returns to the form afterwards", async () => {
    const vault = createFakeVault({ secrets, unlocked: false });
    await renderApp(<SharePage />, { routePattern: "/share/:secretId", path: "/share/x", vault });
    expect(await screen.findByRole("link", { name: "Unlock" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fshare%2Fx",
    );
  });

  it.each([
    ["es", "dark"],
    ["en", "light"],
  ] as const)("is accessible with all options open (%s, %s)", async (language, theme) => {
    await renderPage({}, { language, theme });
    const boxes = screen.getAllByRole("checkbox");
    for (const box of boxes) await userEvent.click(box);
    await expectAccessible();
  });
});

describe("the list of shares", () => {
  const renderShareList = async (overrides: Partial<FakeOwnShare> = { views: 2, maxViews: 5, hasPassword: true }) => {
    const rendered = await renderPage({ shares: [{ shareId: "one", secretId: firstSecretId, ...overrides }] });
    return { ...rendered, card: await screen.findByRole("list", { name: "Shared with" }) };
  };

  it("shows a share's views and options, and offers a new share", async () => {
    const { card } = await renderShareList();
    expect(within(card).getByText("Opened 2 of 5 times")).toBeVisible();
    expect(within(card).getByText("With a password")).toBeVisible();
    expect(within(card).getByText("Not opened yet")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Share with someone" }));
    expect(screen.getByRole("button", { name: "Create link" })).toBeVisible();
    await expectAccessible();
  });

  it("revokes a share after a confirmation, and shows ended ones on request", async () => {
    const { record } = await renderShareList();
    await userEvent.click(screen.getByRole("button", { name: "Stop sharing" }));
    expect(record.confirms).toHaveLength(1);
    expect(await screen.findByText("No one yet.")).toBeVisible();
    await userEvent.click(screen.getByRole("switch", { name: "Show expired" }));
    expect(await screen.findByText("You stopped sharing it")).toBeVisible();
  });

  it("shows the link again, with an opener if none was presented", async () => {
    await renderShareList();
    await userEvent.click(screen.getByRole("button", { name: "Show link" }));
    const panel = await screen.findByRole("group", { name: "Choose one of your pictures to see the link." });
    await userEvent.upload(within(panel).getByLabelText("Choose a picture"), createPictureFile("sea"));
    await userEvent.click(within(panel).getByRole("button", { name: "Show link" }));
    expect(await within(panel).findByRole("alert")).toBeVisible();
    await userEvent.upload(within(panel).getByLabelText("Choose a picture"), createPictureFile("garden"));
    await userEvent.click(within(panel).getByRole("button", { name: "Show link" }));
    expect(await screen.findByText(/\/shared\/one#s=key/)).toBeVisible();
  });

  it("changes the number of views, and keeps the expiry", async () => {
    const { vault, secretId } = await renderShareList();
    const previousExpiry = (await vault.shares.listForSecret(secretId))[0]?.expiresAt;
    await userEvent.click(screen.getByRole("button", { name: "Change limits" }));
    await userEvent.click(screen.getByRole("radio", { name: "10 times" }));
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("Opened 2 of 10 times")).toBeVisible();
    expect((await vault.shares.listForSecret(secretId))[0]?.expiresAt).toBe(previousExpiry);
  });

  it("updates an outdated share", async () => {
    await renderShareList({ outdated: true });
    expect(screen.getByText("What you share is an earlier version.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Share the latest version" }));
    const panel = screen.getByRole("group", { name: /^Choose a picture that opens this secret\./ });
    await userEvent.upload(within(panel).getByLabelText("Choose a picture"), createPictureFile("garden"));
    await userEvent.click(within(panel).getByRole("button", { name: "Share the latest version" }));
    await waitFor(() => {
      expect(screen.queryByText("What you share is an earlier version.")).not.toBeInTheDocument();
    });
  });

  it.each(["hidden", "not_revoked_here", "still_served", "changed", "unknown"] as const)(
    "explains the discrepancy %s",
    async (discrepancy) => {
      await renderShareList({ discrepancy });
      expect(screen.getByText("The service shows something other than what you signed")).toBeVisible();
      await expectAccessible();
    },
  );

  it.each([
    ["only the service lists", { discrepancy: "unknown" }],
    ["only the service ended", { discrepancy: "not_revoked_here", state: "revoked" }],
    [
      "the service still serves",
      { discrepancy: "still_served", state: "revoked", revokedAt: "2026-11-20T12:00:00.000Z" },
    ],
  ] as const)("only offers to revoke a share that %s", async (_description, share) => {
    await renderShareList(share);
    expect(screen.queryByRole("button", { name: "Show link" })).not.toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Change limits" })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Stop sharing" }));
    expect(await screen.findByText("No one yet.")).toBeVisible();
  });

  it("offers the link as a QR code and in the system's share sheet", async () => {
    const share = jest.fn(() => Promise.resolve());
    Object.defineProperty(navigator, "share", { value: share, configurable: true });
    await renderPage();
    await screen.findByText(/^[a-z]+( [a-z]+){3}$/);
    await showOpener();
    await submit();
    await userEvent.click(await screen.findByRole("button", { name: "Show QR code" }));
    expect(screen.getByRole("img", { name: "QR code of the link" })).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    expect(share).toHaveBeenCalledWith({ url: expect.stringMatching(/#s=key$/) as string });
    Reflect.deleteProperty(navigator, "share");
  });
});
