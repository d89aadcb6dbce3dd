import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeOwnShare,
  type FakeVaultSettings,
} from "@relicario/shared/testing";
import SharePage from "./SharePage.tsx";

const secrets = [{ title: "Letter", content: "words" }];

/** The fake vault's id of its first secret. */
const firstSecretId = "01890a5d-ac96-7000-8000-000000000001";

async function renderPage(settings: FakeVaultSettings = {}, appSettings: Parameters<typeof renderApp>[1] = {}) {
  const vault = createFakeVault({ secrets, ...settings });
  const secretId = (await vault.list())[0]?.secretId ?? "";
  const app = await renderApp(<SharePage />, {
    route: "/share/:secretId",
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
const submit = (name = "Make the link") => userEvent.click(screen.getByRole("button", { name }));

describe("the share dialog", () => {
  it("makes a link with four proposed words, and hands both on apart from each other", async () => {
    const { vault, secretId } = await renderPage();
    const words = await screen.findByText(/^[a-z]+( [a-z]+){3}$/);
    const password = words.textContent;
    await showOpener();
    await submit();
    expect(await screen.findByRole("heading", { name: "The link is ready" })).toHaveFocus();
    expect(screen.getByText(/\/shared\/.*#s=key$/)).toBeVisible();
    expect(screen.getByText(password)).toBeVisible();
    expect(screen.getByText(/Send it by another way than the link/)).toBeVisible();
    const [share] = await vault.shares.listForSecret(secretId);
    expect(share).toMatchObject({
      audience: "public",
      maxViews: 5,
      hasPassword: true,
      hasPicture: false,
      state: "live",
    });
    await expectAccessible();
  });

  it("asks for no password where the person says so, and says what that means", async () => {
    const { vault, secretId } = await renderPage();
    await userEvent.click(screen.getByRole("radio", { name: "No" }));
    await userEvent.click(screen.getByRole("radio", { name: "Anyone who has the link and signs in" }));
    await userEvent.click(screen.getByRole("radio", { name: "No limit" }));
    await showOpener();
    await submit();
    await screen.findByRole("heading", { name: "The link is ready" });
    expect(screen.queryByRole("button", { name: "Copy the password" })).not.toBeInTheDocument();
    expect((await vault.shares.listForSecret(secretId))[0]).toMatchObject({
      audience: "signed_in",
      maxViews: null,
      hasPassword: false,
    });
  });

  it("sends nothing before what is missing is there, and says what that is", async () => {
    const { vault } = await renderPage();
    await userEvent.click(screen.getByRole("radio", { name: "Another number" }));
    await userEvent.click(screen.getByRole("checkbox", { name: "Ask for a picture, too" }));
    await submit();
    expect(await screen.findByText("A whole number from 1 on.")).toBeVisible();
    expect(screen.getByText("Choose the picture that the share asks for.")).toBeVisible();
    expect(screen.getByText("Show a picture that opens this secret.", { selector: "[role=alert] *" })).toBeVisible();
    expect(vault.calls).not.toContain("shares.create");
    await expectAccessible();
  });

  it("says that a picture of the share opens one's own secrets, beside the picture", async () => {
    const { vault } = await renderPage();
    vault.failWith("shares.create", "picture_is_opener");
    await userEvent.click(screen.getByRole("checkbox", { name: "Ask for a picture, too" }));
    const pictureInput = screen.getAllByLabelText("Choose a picture")[0];
    if (pictureInput === undefined) throw new Error("no field");
    await userEvent.upload(pictureInput, createPictureFile("garden"));
    await showOpener();
    await submit();
    expect(await screen.findByText(/This picture opens your own secrets/)).toBeVisible();
  });

  it("shares with a person, shows their words, and remembers that they were compared", async () => {
    const { vault, secretId } = await renderPage({ people: [{ userName: "bruno" }] });
    await userEvent.click(screen.getByRole("radio", { name: "One person" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Their user name" }), "bruno{Enter}");
    expect(await screen.findByText(/the service itself could be the one who receives this/)).toBeVisible();
    expect(within(screen.getByRole("list", { name: "Words of bruno" })).getAllByRole("listitem")).toHaveLength(8);
    expect(screen.queryByText("Does it ask for a password?")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("checkbox", { name: /^I compared these words with bruno/ }));
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

  it("shows the share that was made where it cannot be noted that the words were compared, and says that by itself", async () => {
    const { vault, record } = await renderPage({ people: [{ userName: "bruno" }] });
    vault.failWith("people.setCompared", "service_unavailable");
    await userEvent.click(screen.getByRole("radio", { name: "One person" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Their user name" }), "bruno{Enter}");
    await userEvent.click(await screen.findByRole("checkbox", { name: /^I compared these words with bruno/ }));
    await showOpener();
    await submit("Share");
    expect(await screen.findByRole("heading", { name: "Shared" })).toHaveFocus();
    await waitFor(() => {
      expect(record.notices).toEqual([
        { tone: "error", text: expect.stringMatching(/^It is shared with bruno, but it could not be kept/) as string },
      ]);
    });
    expect(vault.calls.filter((call) => call === "shares.create")).toHaveLength(1);
  });

  it("leaves an answer out that comes for a name that is no longer in the field", async () => {
    const vault = createFakeVault({ secrets, people: [{ userName: "bruno" }, { userName: "carla" }] });
    const pendingLookups: (() => void)[] = [];
    const find: typeof vault.people.find = async (name, options) => {
      const person = await vault.people.find(name, options);
      if (name === "bruno") await new Promise<void>((resolve) => pendingLookups.push(resolve));
      return person;
    };
    await renderApp(<SharePage />, {
      route: "/share/:secretId",
      path: `/share/${firstSecretId}`,
      vault: { ...vault, people: { ...vault.people, find } },
    });
    await userEvent.click(await screen.findByRole("radio", { name: "One person" }));
    const name = screen.getByRole("textbox", { name: "Their user name" });
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
    expect(screen.queryByRole("list", { name: "Words of bruno" })).not.toBeInTheDocument();
    await userEvent.type(name, "{Enter}");
    expect(await screen.findByRole("list", { name: "Words of carla" })).toBeVisible();
    expect(screen.queryByRole("list", { name: "Words of bruno" })).not.toBeInTheDocument();
  });

  it("offers a link for signed-in people where nobody has that name", async () => {
    await renderPage();
    await userEvent.click(screen.getByRole("radio", { name: "One person" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Their user name" }), "nobody");
    await userEvent.click(screen.getByRole("button", { name: "Find" }));
    await userEvent.click(await screen.findByRole("button", { name: "Make a link for signed-in people" }));
    expect(screen.getByRole("radio", { name: "Anyone who has the link and signs in" })).toBeChecked();
  });

  it("stops at changed keys with both sets of words, and seals nothing until they are taken", async () => {
    const { vault } = await renderPage({ people: [{ userName: "bruno", trust: "changed" }] });
    await userEvent.click(screen.getByRole("radio", { name: "One person" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Their user name" }), "bruno{Enter}");
    expect(await screen.findByText("The keys of bruno have changed")).toBeVisible();
    expect(screen.getByRole("list", { name: "Words that you know" })).toBeVisible();
    expect(screen.getByRole("list", { name: "New words" })).toBeVisible();
    await showOpener();
    await submit("Share");
    expect(await screen.findByText("Decide about the changed keys first.")).toBeVisible();
    expect(vault.calls).not.toContain("shares.create");
    await userEvent.click(screen.getByRole("button", { name: /use these keys$/ }));
    expect(await screen.findByText("These are the keys of bruno that you know")).toBeVisible();
    await submit("Share");
    await screen.findByRole("heading", { name: "Shared" });
  });

  it("says so where the secret is in the trash", async () => {
    const vault = createFakeVault({ secrets: [{ title: "Letter", content: "words", deleted: true }] });
    const secretId = (await vault.list())[0]?.secretId ?? "";
    await renderApp(<SharePage />, { route: "/share/:secretId", path: `/share/${secretId}`, vault });
    expect(await screen.findByText("This secret is not here")).toBeVisible();
  });

  it("asks to unlock a locked device, and comes back", async () => {
    const vault = createFakeVault({ secrets, unlocked: false });
    await renderApp(<SharePage />, { route: "/share/:secretId", path: "/share/x", vault });
    expect(await screen.findByRole("link", { name: "Unlock" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fshare%2Fx",
    );
  });

  it.each([
    ["es", "dark"],
    ["en", "light"],
  ] as const)("is accessible with all of it open (%s, %s)", async (language, theme) => {
    await renderPage({}, { language, theme });
    const boxes = screen.getAllByRole("checkbox");
    for (const box of boxes) await userEvent.click(box);
    await expectAccessible();
  });
});

describe("the list of shares", () => {
  const renderShareList = async (overrides: Partial<FakeOwnShare> = { views: 2, maxViews: 5, hasPassword: true }) => {
    const rendered = await renderPage({ shares: [{ shareId: "one", secretId: firstSecretId, ...overrides }] });
    return { ...rendered, card: await screen.findByRole("list", { name: "Who can open it" }) };
  };

  it("says how often it was opened and until when, and offers a new one", async () => {
    const { card } = await renderShareList();
    expect(within(card).getByText("Opened 2 of 5 times")).toBeVisible();
    expect(within(card).getByText("With a password")).toBeVisible();
    expect(within(card).getByText("Not opened yet")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Share it with someone" }));
    expect(screen.getByRole("button", { name: "Make the link" })).toBeVisible();
    await expectAccessible();
  });

  it("ends a share after a question, and shows the ended ones on request", async () => {
    const { record } = await renderShareList();
    await userEvent.click(screen.getByRole("button", { name: "End it" }));
    expect(record.confirms).toHaveLength(1);
    expect(await screen.findByText("No one but you.")).toBeVisible();
    await userEvent.click(screen.getByRole("switch", { name: "Ended ones, too" }));
    expect(await screen.findByText("Ended by you")).toBeVisible();
  });

  it("shows the link again, with a picture where none was shown before", async () => {
    await renderShareList();
    await userEvent.click(screen.getByRole("button", { name: "Show the link" }));
    const panel = await screen.findByRole("group", { name: "Show one of your pictures to see the link." });
    await userEvent.upload(within(panel).getByLabelText("Choose a picture"), createPictureFile("sea"));
    await userEvent.click(within(panel).getByRole("button", { name: "Show the link" }));
    expect(await within(panel).findByRole("alert")).toBeVisible();
    await userEvent.upload(within(panel).getByLabelText("Choose a picture"), createPictureFile("garden"));
    await userEvent.click(within(panel).getByRole("button", { name: "Show the link" }));
    expect(await screen.findByText(/\/shared\/one#s=key/)).toBeVisible();
  });

  it("changes end and number, and leaves what is not touched", async () => {
    const { vault, secretId } = await renderShareList();
    const previousExpiry = (await vault.shares.listForSecret(secretId))[0]?.expiresAt;
    await userEvent.click(screen.getByRole("button", { name: "Change" }));
    await userEvent.click(screen.getByRole("radio", { name: "10 times" }));
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("Opened 2 of 10 times")).toBeVisible();
    expect((await vault.shares.listForSecret(secretId))[0]?.expiresAt).toBe(previousExpiry);
  });

  it("updates what was shared after an edit", async () => {
    await renderShareList({ outdated: true });
    expect(screen.getByText("It shows an earlier version of this secret.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Update what I shared" }));
    const panel = screen.getByRole("group", { name: /^Show a picture that opens this secret\./ });
    await userEvent.upload(within(panel).getByLabelText("Choose a picture"), createPictureFile("garden"));
    await userEvent.click(within(panel).getByRole("button", { name: "Update what I shared" }));
    await waitFor(() => {
      expect(screen.queryByText("It shows an earlier version of this secret.")).not.toBeInTheDocument();
    });
  });

  it.each(["hidden", "not_revoked_here", "still_served", "changed", "unknown"] as const)(
    "says in words what does not fit: %s",
    async (discrepancy) => {
      await renderShareList({ discrepancy });
      expect(screen.getByText("This does not fit what you signed")).toBeVisible();
      await expectAccessible();
    },
  );

  it.each([
    ["only the service names", { discrepancy: "unknown" }],
    ["the service ended by itself", { discrepancy: "not_revoked_here", state: "revoked" }],
    [
      "the service still gives out",
      { discrepancy: "still_served", state: "revoked", revokedAt: "2026-11-20T12:00:00.000Z" },
    ],
  ] as const)("ends one that %s, and offers nothing else of it", async (_description, share) => {
    await renderShareList(share);
    expect(screen.queryByRole("button", { name: "Show the link" })).not.toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Change" })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "End it" }));
    expect(await screen.findByText("No one but you.")).toBeVisible();
  });

  it("has the link as a QR code and for the system's share sheet", async () => {
    const share = jest.fn(() => Promise.resolve());
    Object.defineProperty(navigator, "share", { value: share, configurable: true });
    await renderPage();
    await screen.findByText(/^[a-z]+( [a-z]+){3}$/);
    await showOpener();
    await submit();
    await userEvent.click(await screen.findByRole("button", { name: "QR code" }));
    expect(screen.getByRole("img", { name: "QR code of the link" })).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Send with" }));
    expect(share).toHaveBeenCalledWith({ url: expect.stringMatching(/#s=key$/) as string });
    Reflect.deleteProperty(navigator, "share");
  });
});
