import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  readOpened,
  renderApp,
  type FakeVault,
  createOpenerHandle,
} from "@relicario/shared/testing";
import HistoryPage from "./HistoryPage.tsx";

const editedSecret = { title: "Wallet", content: "third", formerContents: ["first", "second"] };

async function renderPage(
  vault: FakeVault = createFakeVault({ secrets: [editedSecret] }),
  settings: Parameters<typeof renderApp>[1] = {},
) {
  const secretId = (await vault.list())[0]?.secretId ?? "";
  const app = await renderApp(
    <main>
      <HistoryPage />
    </main>,
    { vault, path: `/secret-history/${secretId}`, routePattern: "/secret-history/:secretId", ...settings },
  );
  return { vault, secretId, ...app };
}
const findVersionTitles = async () =>
  within(await screen.findByRole("list", { name: "Versions" }))
    .getAllByRole("heading", { level: 2 })
    .map((heading) => heading.textContent);

describe("HistoryPage", () => {
  it("lists the versions, newest first, and marks the current one", async () => {
    await renderPage();
    expect(await findVersionTitles()).toEqual(["Version 3", "Version 2", "Version 1"]);
    expect(screen.getAllByText("Current")).toHaveLength(1);
    expect(screen.getByText("The versions of “Wallet”.")).toBeVisible();
    await expectAccessible();
  });

  it("links each version to its recovery", async () => {
    const { secretId } = await renderPage();
    expect(await screen.findByRole("link", { name: "Open version 2" })).toHaveAttribute(
      "href",
      `/provide-image-recovery?secret=${secretId}&version=2`,
    );
    expect(screen.getByRole("link", { name: "Open version 3" })).toHaveAttribute(
      "href",
      `/provide-image-recovery?secret=${secretId}`,
    );
  });

  it("restores an older version as a new one, with its picture", async () => {
    const { vault, secretId, record } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Restore version 1" }));
    const panel = screen.getByRole("group", { name: "Restore version 1" });
    await userEvent.click(within(panel).getByRole("button", { name: "Restore" }));
    expect(within(panel).getByText("Choose a picture, a recovery code or a passkey first.")).toBeVisible();
    await userEvent.upload(within(panel).getByLabelText("Choose a picture"), createPictureFile("garden"));
    await expectAccessible();
    await userEvent.click(within(panel).getByRole("button", { name: "Restore" }));
    await waitFor(async () => {
      expect(await findVersionTitles()).toHaveLength(4);
    });
    expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Version 1 is the latest again." });
    const opened = await vault.openSecret(secretId, createOpenerHandle(createPictureFile("garden")));
    expect(readOpened(opened.handle).content).toBe("first");
  });

  it("rejects a wrong picture, and changes nothing", async () => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Restore version 2" }));
    await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("market"));
    await userEvent.click(screen.getByRole("button", { name: "Restore" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("This picture does not open it");
    expect(await findVersionTitles()).toHaveLength(3);
  });

  it("shows versions on a locked device, without the title", async () => {
    await renderPage(createFakeVault({ secrets: [editedSecret], unlocked: false }));
    expect(await findVersionTitles()).toHaveLength(3);
    expect(screen.queryByText(/Wallet/)).not.toBeInTheDocument();
  });

  it("warns how many shares end with the versions to remove", async () => {
    const { record, vault, secretId } = await renderPage();
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const request = {
      secretId,
      to: { audience: "public" },
      expiresAt,
      maxViews: null,
      password: null,
      picture: null,
      notify: false,
    } as const;
    await vault.shares.create(request, createOpenerHandle(createPictureFile("garden")));
    vault.saveElsewhere(secretId, { content: "newer" });
    await userEvent.click(await screen.findByRole("button", { name: "Delete versions" }));
    await userEvent.click(screen.getByRole("checkbox", { name: /^Version 3 ·/ }));
    await userEvent.click(screen.getByRole("button", { name: "Delete the chosen versions" }));
    expect(record.confirms[0]?.description).toContain("One person or link will lose access to these versions.");
  });

  it("removes the chosen versions after a confirmation, and marks them as removed", async () => {
    const { vault, secretId, record } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Delete versions" }));
    const panel = screen.getByRole("group", { name: "Delete versions" });
    await userEvent.click(within(panel).getByRole("button", { name: "Delete the chosen versions" }));
    expect(within(panel).getByText("Choose a version first.")).toBeVisible();
    expect(within(panel).getAllByRole("checkbox")).toHaveLength(2); // the current version is not among them
    await userEvent.click(within(panel).getByRole("checkbox", { name: /^Version 1 ·/ }));
    await expectAccessible();
    await userEvent.click(within(panel).getByRole("button", { name: "Delete the chosen versions" }));
    expect(await screen.findByText("Content deleted")).toBeVisible();
    expect(record.confirms).toEqual([
      expect.objectContaining({ title: "Delete this version for good?", danger: true }),
    ]);
    expect(record.notices.at(-1)).toEqual({ tone: "success", text: "One version deleted for good." });
    expect(await findVersionTitles()).toEqual(["Version 3", "Version 2", "Version 1"]);
    expect(screen.queryByRole("link", { name: "Open version 1" })).not.toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Restore version 1" })).not.toBeInTheDocument();
    expect((await vault.listVersions(secretId)).map(({ dropped }) => dropped)).toEqual([false, false, true]);
  });

  it("removes nothing if declined, or on a locked device", async () => {
    const { vault, unmount } = await renderPage(undefined, { confirmAnswer: false });
    await userEvent.click(await screen.findByRole("button", { name: "Delete versions" }));
    await userEvent.click(screen.getByRole("checkbox", { name: /^Version 1 ·/ }));
    await userEvent.click(screen.getByRole("button", { name: "Delete the chosen versions" }));
    expect(vault.calls).not.toContain("removeVersions");
    unmount();
    await renderPage(createFakeVault({ secrets: [editedSecret], unlocked: false }));
    await findVersionTitles();
    expect(screen.queryByRole("button", { name: "Delete versions" })).not.toBeInTheDocument();
  });

  it("offers to remove versions if there is no room for the restored version", async () => {
    const { vault } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Restore version 2" }));
    vault.failWith("restoreVersion", "too_many_versions");
    await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Restore" }));
    expect(await screen.findByRole("alert")).toHaveTextContent(
      "This secret already has the maximum number of earlier versions",
    );
    vault.failWith("restoreVersion", null);
    await userEvent.click(await screen.findByRole("checkbox", { name: /^Version 1 ·/ }));
    await userEvent.click(screen.getByRole("button", { name: "Delete the chosen versions" }));
    await waitFor(() => {
      expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    });
    await userEvent.click(screen.getByRole("button", { name: "Restore" }));
    await waitFor(async () => {
      expect(await findVersionTitles()).toHaveLength(4);
    });
  });

  it("offers no restore in the trash", async () => {
    await renderPage(createFakeVault({ secrets: [{ ...editedSecret, deleted: true }] }));
    expect(await findVersionTitles()).toHaveLength(3);
    expect(screen.queryByRole("button", { name: /^Restore/ })).not.toBeInTheDocument();
  });

  it("shows a failure, and retries", async () => {
    const vault = createFakeVault({ secrets: [editedSecret] });
    vault.failWith("listVersions", "service_unavailable");
    await renderPage(vault);
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
    vault.failWith("listVersions", null);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await findVersionTitles()).toHaveLength(3);
  });

  it("says that a secret is missing", async () => {
    await renderPage(createFakeVault({ secrets: [editedSecret] }), { path: "/secret-history/unknown" });
    expect(await screen.findByRole("heading", { name: "This secret is not here" })).toBeVisible();
    await expectAccessible();
  });

  it("renders in Spanish and in the dark theme", async () => {
    await renderPage(createFakeVault({ secrets: [editedSecret] }), { language: "es", theme: "dark" });
    expect(await screen.findByRole("heading", { name: "Versión 3" })).toBeVisible();
    await expectAccessible();
  });
});
