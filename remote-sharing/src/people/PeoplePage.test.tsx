import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { createFakeVault, expectAccessible, renderApp, type FakePerson, wholeText } from "@relicario/shared/testing";
import remote from "../remote.tsx";

const people: readonly FakePerson[] = [
  { userName: "bruno", trust: "known" },
  { userName: "carla", trust: "changed" },
  { userName: "dario" },
];

async function renderPage(knownPeople = people, settings: Parameters<typeof renderApp>[1] = {}) {
  const vault = createFakeVault({ secrets: [{ title: "Mine", content: "x" }], people: knownPeople });
  const app = await renderApp(null, {
    vault,
    routes: remote.routes,
    routePattern: "/elsewhere",
    path: "/people",
    ...settings,
  });
  return { ...app, vault };
}

const findCard = async (name: string) => within(await screen.findByRole("article", { name }));

describe("the page of people", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("is accessible (%s, %s)", async (language, theme) => {
    await renderPage(people, { language, theme });
    await findCard("bruno");
    await expectAccessible();
  });

  it("shows the account's safety words, also as a QR code", async () => {
    await renderPage();
    expect(
      within(await screen.findByRole("list", { name: "Safety words of alba" })).getAllByRole("listitem"),
    ).toHaveLength(8);
    expect(screen.getByRole("img", { name: "Your eight safety words as a QR code" })).toBeVisible();
  });

  it("shows only people with pinned keys, with their words", async () => {
    await renderPage();
    const bruno = await findCard("bruno");
    expect(bruno.getByText("Not compared")).toBeVisible();
    expect(bruno.getByText("Keys saved on 1 Nov 2026")).toBeVisible();
    expect(bruno.getAllByRole("listitem")).toHaveLength(8);
    expect(bruno.getByRole("list")).toHaveAttribute("translate", "no");
    for (const name of bruno.getAllByText("bruno")) expect(name).toHaveAttribute("translate", "no");
    expect(screen.queryByText("dario")).not.toBeInTheDocument();
  });

  it("saves whether words were compared", async () => {
    const { vault } = await renderPage();
    const comparedCheckbox = (await findCard("bruno")).getByRole("checkbox", {
      name: /I compared these words or their numbers with bruno/,
    });
    await userEvent.click(comparedCheckbox);
    expect(await (await findCard("bruno")).findByText("Words compared")).toBeVisible();
    expect((await vault.people.find("bruno")).trust).toBe("compared");
    await userEvent.click(comparedCheckbox);
    expect(await (await findCard("bruno")).findByText("Not compared")).toBeVisible();
  });

  it("blocks and unblocks", async () => {
    const { vault } = await renderPage();
    await userEvent.click((await findCard("bruno")).getByRole("button", { name: "Block" }));
    await userEvent.click(await (await findCard("bruno")).findByRole("button", { name: "Unblock" }));
    expect(await (await findCard("bruno")).findByRole("button", { name: "Block" })).toBeVisible();
    expect((await vault.people.find("bruno")).blocked).toBe(false);
  });

  it("queries the directory only after a press of a button, and for one name", async () => {
    const { vault } = await renderPage();
    const bruno = await findCard("bruno");
    expect(vault.calls).not.toContain("people.find");
    await userEvent.click(bruno.getByRole("button", { name: "Check keys again" }));
    expect(await bruno.findByText("The keys have not changed.")).toBeVisible();
    expect(vault.calls.filter((call) => call === "people.find")).toHaveLength(1);
    vault.failWith("people.find", "not_found");
    await userEvent.click(bruno.getByRole("button", { name: "Check keys again" }));
    expect(await bruno.findByText(/^No one uses that name now/)).toBeVisible();
    vault.failWith("people.find", "decryption_failed");
    await userEvent.click(bruno.getByRole("button", { name: "Check keys again" }));
    expect(await bruno.findByRole("alert")).toBeVisible();
  });

  it("shows old and new words after a key change, and trusts the new ones only on request", async () => {
    const { vault } = await renderPage();
    const carla = await findCard("carla");
    expect(carla.getByText("before")).toBeVisible();
    await userEvent.click(carla.getByRole("button", { name: "Check keys again" }));
    expect(await carla.findByText(wholeText("The keys of carla have changed"))).toBeVisible();
    expect(within(carla.getByRole("list", { name: "Previous words" })).getByText("before")).toBeVisible();
    expect(within(carla.getByRole("list", { name: "New words" })).getByText("today")).toBeVisible();
    expect(carla.queryByRole("checkbox")).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(carla.getByRole("button", { name: "I compared them: use the new keys" }));
    expect(await (await findCard("carla")).findByRole("checkbox")).toBeVisible();
    expect((await findCard("carla")).getByText("today")).toBeVisible();
    expect((await vault.people.find("carla")).trust).toBe("known");
  });

  it("shows that a change failed, and the stored state of the person", async () => {
    const { vault } = await renderPage();
    vault.failWith("people.setBlocked", "state_conflict");
    await userEvent.click((await findCard("bruno")).getByRole("button", { name: "Block" }));
    expect(await screen.findByRole("alert")).toBeVisible();
    expect((await findCard("bruno")).getByText("Not compared")).toBeVisible();
  });

  it("explains its purpose while it is empty", async () => {
    await renderPage([]);
    expect(await screen.findByRole("heading", { name: "No one yet" })).toBeVisible();
    await expectAccessible();
  });
});
