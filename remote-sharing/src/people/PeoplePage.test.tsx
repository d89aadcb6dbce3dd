import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { createFakeVault, expectAccessible, renderApp, type FakePerson } from "@relicario/shared/testing";
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
    route: "/elsewhere",
    path: "/people",
    ...settings,
  });
  return { ...app, vault };
}

const findCard = async (name: string) => within(await screen.findByRole("article", { name }));

describe("people", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("is accessible (%s, %s)", async (language, theme) => {
    await renderPage(people, { language, theme });
    await findCard("bruno");
    await expectAccessible();
  });

  it("shows the account's own words, also as a code", async () => {
    await renderPage();
    expect(within(await screen.findByRole("list", { name: "Words of alba" })).getAllByRole("listitem")).toHaveLength(8);
    expect(screen.getByRole("img", { name: "Your eight words as a QR code" })).toBeVisible();
  });

  it("shows those whose keys are pinned, with their words, and nobody else", async () => {
    await renderPage();
    const bruno = await findCard("bruno");
    expect(bruno.getByText("Known")).toBeVisible();
    expect(bruno.getByText("Known since 1 Nov 2026")).toBeVisible();
    expect(bruno.getAllByRole("listitem")).toHaveLength(8);
    expect(screen.queryByText("dario")).not.toBeInTheDocument();
  });

  it("remembers that words were compared, and that they were not", async () => {
    const { vault } = await renderPage();
    const comparedCheckbox = (await findCard("bruno")).getByRole("checkbox", {
      name: /I compared these words with bruno/,
    });
    await userEvent.click(comparedCheckbox);
    expect(await (await findCard("bruno")).findByText("Compared")).toBeVisible();
    expect((await vault.people.find("bruno")).trust).toBe("compared");
    await userEvent.click(comparedCheckbox);
    expect(await (await findCard("bruno")).findByText("Known")).toBeVisible();
  });

  it("blocks and unblocks", async () => {
    const { vault } = await renderPage();
    await userEvent.click((await findCard("bruno")).getByRole("button", { name: "Block" }));
    await userEvent.click(await (await findCard("bruno")).findByRole("button", { name: "Unblock" }));
    expect(await (await findCard("bruno")).findByRole("button", { name: "Block" })).toBeVisible();
    expect((await vault.people.find("bruno")).blocked).toBe(false);
  });

  it("asks the directory about nobody before a button, and then about one", async () => {
    const { vault } = await renderPage();
    const bruno = await findCard("bruno");
    expect(vault.calls).not.toContain("people.find");
    await userEvent.click(bruno.getByRole("button", { name: "Look whether the keys are the same" }));
    expect(await bruno.findByText("The service gives the same keys now.")).toBeVisible();
    expect(vault.calls.filter((call) => call === "people.find")).toHaveLength(1);
    vault.failWith("people.find", "not_found");
    await userEvent.click(bruno.getByRole("button", { name: "Look whether the keys are the same" }));
    expect(await bruno.findByText(/^No one has that name now/)).toBeVisible();
    vault.failWith("people.find", "decryption_failed");
    await userEvent.click(bruno.getByRole("button", { name: "Look whether the keys are the same" }));
    expect(await bruno.findByRole("alert")).toBeVisible();
  });

  it("shows both sets of words of somebody whose keys changed, and takes the new ones on request alone", async () => {
    const { vault } = await renderPage();
    const carla = await findCard("carla");
    expect(carla.getByText("before")).toBeVisible();
    await userEvent.click(carla.getByRole("button", { name: "Look whether the keys are the same" }));
    expect(await carla.findByText("The keys of carla are not the ones that you know")).toBeVisible();
    expect(within(carla.getByRole("list", { name: "Words that you know" })).getByText("before")).toBeVisible();
    expect(within(carla.getByRole("list", { name: "New words" })).getByText("today")).toBeVisible();
    expect(carla.queryByRole("checkbox")).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(carla.getByRole("button", { name: "I compared them: trust the new keys" }));
    expect(await (await findCard("carla")).findByRole("checkbox")).toBeVisible();
    expect((await findCard("carla")).getByText("today")).toBeVisible();
    expect((await vault.people.find("carla")).trust).toBe("known");
  });

  it("says why a change failed, and shows what holds", async () => {
    const { vault } = await renderPage();
    vault.failWith("people.setBlocked", "state_conflict");
    await userEvent.click((await findCard("bruno")).getByRole("button", { name: "Block" }));
    expect(await screen.findByRole("alert")).toBeVisible();
    expect((await findCard("bruno")).getByText("Known")).toBeVisible();
  });

  it("says what it is for while nobody is known", async () => {
    await renderPage([]);
    expect(await screen.findByRole("heading", { name: "No one yet" })).toBeVisible();
    await expectAccessible();
  });
});
