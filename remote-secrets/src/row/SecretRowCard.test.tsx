import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { SecretRow } from "@relicario/shared/contract";
import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { SecretRowCard, type RowActions } from "./SecretRowCard.tsx";

const dayMilliseconds = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMilliseconds).toISOString();
const row: SecretRow = {
  secretId: "01890a5d-ac96-7000-8000-000000000001",
  version: 1,
  rev: 1,
  favorite: false,
  sealedSize: 2_000,
  createdAt: "2026-11-01T00:00:00.000Z",
  updatedAt: "2026-11-01T00:00:00.000Z",
  deletedAt: null,
  droppedAt: null,
  label: {
    title: "Letter",
    tags: ["old"],
    contentKind: "text",
    name: "secret.txt",
    size: 12,
    openers: [],
    copyCheckedAt: null,
    kits: [],
  },
};

async function renderCard(overrides: Partial<SecretRow>, canPurge = true, shared = false) {
  const actions = {
    favorite: jest.fn(),
    trash: jest.fn(),
    restore: jest.fn(),
    purge: canPurge ? jest.fn() : null,
    select: jest.fn(),
  } satisfies RowActions;
  const app = await renderApp(
    <main>
      <h1>List</h1>
      <SecretRowCard row={{ ...row, ...overrides }} actions={actions} shared={shared} selected={null} />
    </main>,
  );
  return { actions, ...app };
}
const openMenu = () => userEvent.click(screen.getByRole("button", { name: "More for Letter" }));
const getMenuItems = () => screen.getAllByRole("menuitem").map((item) => item.textContent);

describe("SecretRowCard", () => {
  it("shows kind, size, date and tags, and everything that can be done", async () => {
    await renderCard({});
    expect(screen.getByText("12 bytes")).toBeVisible();
    expect(screen.getByText("1 Nov 2026")).toBeVisible();
    expect(screen.getByText("old")).toBeVisible();
    await openMenu();
    expect(getMenuItems()).toEqual(["Recover", "Share", "Edit", "History", "Add to favourites", "Move to trash"]);
    await expectAccessible();
  });

  it("says that somebody else can open it, and leads to sharing", async () => {
    const { record } = await renderCard({}, true, true);
    expect(screen.getByText("Shared")).toBeVisible();
    await expectAccessible();
    await openMenu();
    await userEvent.click(screen.getByRole("menuitem", { name: "Share" }));
    expect(record.paths).toEqual([`/share/${row.secretId}`]);
  });

  it("in the trash says how long it can come back", async () => {
    const { actions } = await renderCard({ deletedAt: daysAgo(23.5) });
    expect(screen.getByText("7 days left")).toBeVisible();
    await openMenu();
    expect(getMenuItems()).toEqual(["Restore", "Delete for good"]);
    await userEvent.click(screen.getByRole("menuitem", { name: "Restore" }));
    expect(actions.restore).toHaveBeenCalledTimes(1);
  });

  it("whose content the service has dropped can only be deleted", async () => {
    await renderCard({ deletedAt: daysAgo(31), droppedAt: daysAgo(1) });
    expect(screen.getByText("content is gone")).toBeVisible();
    expect(screen.queryByRole("link")).not.toBeInTheDocument();
    await openMenu();
    expect(getMenuItems()).toEqual(["Delete for good"]);
    await expectAccessible();
  });

  it("has no menu where nothing can be done", async () => {
    await renderCard({ deletedAt: daysAgo(31), droppedAt: daysAgo(1) }, false);
    expect(screen.queryByRole("button")).not.toBeInTheDocument();
  });
});
