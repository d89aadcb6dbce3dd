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
  trashConfirmedAt: null,
  droppedAt: null,
  label: {
    title: "Letter",
    tags: ["old"],
    contentKind: "text",
    name: "secret.txt",
    size: 12,
    openerIds: [],
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
  it("shows size, date, tags and all actions", async () => {
    await renderCard({});
    expect(screen.getByText("12 bytes")).toBeVisible();
    expect(screen.getByText("1 Nov 2026")).toBeVisible();
    expect(screen.getByText("old")).toBeVisible();
    await openMenu();
    expect(getMenuItems()).toEqual(["Open", "Share", "Edit", "History", "Add to favourites", "Move to trash"]);
    await expectAccessible();
  });

  it("marks a shared secret, and links to sharing", async () => {
    const { record } = await renderCard({}, true, true);
    expect(screen.getByText("Shared")).toBeVisible();
    await expectAccessible();
    await openMenu();
    await userEvent.click(screen.getByRole("menuitem", { name: "Share" }));
    expect(record.paths).toEqual([`/share/${row.secretId}`]);
  });

  it("shows for a trashed secret how long it can be restored", async () => {
    const { actions } = await renderCard({ deletedAt: daysAgo(60), trashConfirmedAt: daysAgo(23.5) });
    expect(screen.getByText("7 days left")).toBeVisible();
    await openMenu();
    expect(getMenuItems()).toEqual(["Restore", "Delete for good"]);
    await userEvent.click(screen.getByRole("menuitem", { name: "Restore" }));
    expect(actions.restore).toHaveBeenCalledTimes(1);
  });

  it("shows a trashed secret that stays until it is confirmed", async () => {
    await renderCard({ deletedAt: daysAgo(60) });
    expect(screen.getByText("stays until you confirm")).toBeVisible();
  });

  it("offers only to delete a secret whose content the service has dropped", async () => {
    await renderCard({ deletedAt: daysAgo(31), droppedAt: daysAgo(1) });
    expect(screen.getByText("content deleted")).toBeVisible();
    expect(screen.queryByRole("link")).not.toBeInTheDocument();
    await openMenu();
    expect(getMenuItems()).toEqual(["Delete for good"]);
    await expectAccessible();
  });

  it("has no menu if there are no actions", async () => {
    await renderCard({ deletedAt: daysAgo(31), droppedAt: daysAgo(1) }, false);
    expect(screen.queryByRole("button")).not.toBeInTheDocument();
  });
});
