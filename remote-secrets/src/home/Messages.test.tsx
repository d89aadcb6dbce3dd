import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { PortalMessage } from "@relicario/shared/contract";
import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { readClosedMessages, closeMessage } from "./closed-messages.ts";
import { Messages } from "./Messages.tsx";

const bilingual = (en: string, es: string) => ({ en, es });
const news: PortalMessage = {
  id: "news",
  title: bilingual("New", "Nuevo"),
  body: bilingual("A new thing.", "Una cosa nueva."),
  link: "https://example.org/news",
};
const offer: PortalMessage = {
  id: "offer",
  title: bilingual("Offer", "Oferta"),
  body: bilingual("Half the price.", "A mitad de precio."),
};

async function renderMessages(messages: readonly PortalMessage[], settings: Parameters<typeof renderApp>[1] = {}) {
  const ui = (
    <main>
      <h1>Home</h1>
      <Messages />
    </main>
  );
  return renderApp(ui, {
    vendor: { vendorId: "relicario", branding: { productName: "Relicario" }, messages },
    ...settings,
  });
}
const getTitles = () => screen.queryAllByRole("heading", { level: 3 }).map((heading) => heading.textContent);

describe("Messages", () => {
  beforeEach(() => {
    localStorage.clear();
  });

  it("shows the vendor's messages in the portal's language", async () => {
    const { unmount } = await renderMessages([news, offer]);
    expect(getTitles()).toEqual(["New", "Offer"]);
    expect(screen.getByRole("link", { name: /^Read more/ })).toHaveAttribute("href", "https://example.org/news");
    await expectAccessible();
    unmount();
    await renderMessages([news, offer], { language: "es", theme: "dark" });
    expect(getTitles()).toEqual(["Nuevo", "Oferta"]);
    await expectAccessible();
  });

  it("closes a message on this device for good", async () => {
    const { unmount } = await renderMessages([news, offer]);
    await userEvent.click(screen.getByRole("button", { name: "Close: New" }));
    expect(getTitles()).toEqual(["Offer"]);
    unmount();
    await renderMessages([news, offer]);
    expect(getTitles()).toEqual(["Offer"]);
  });

  it("shows the built-in advice if the vendor has no messages", async () => {
    await renderMessages([]);
    expect(getTitles()).toEqual(["Keep two or three copies of your picture"]);
    await userEvent.click(screen.getByRole("button", { name: /^Close/ }));
    expect(screen.queryByRole("region", { name: "Messages" })).not.toBeInTheDocument();
  });

  it.each(["javascript:alert(1)", "http://example.org/", "data:text/html,x", "not an address"])(
    "does not link to %s",
    async (link) => {
      await renderMessages([{ ...news, link }]);
      expect(getTitles()).toEqual(["New"]);
      expect(screen.queryByRole("link")).not.toBeInTheDocument();
    },
  );

  it("shows texts as text, never as markup", async () => {
    await renderMessages([{ ...offer, body: bilingual("<b>Half</b>", "<b>Mitad</b>") }]);
    expect(screen.getByText("<b>Half</b>")).toBeVisible();
  });
});

describe("closed messages", () => {
  it("are empty if the stored value is invalid", () => {
    expect(readClosedMessages({ getItem: () => "{" })).toEqual([]);
    expect(readClosedMessages({ getItem: () => '{"a":1}' })).toEqual([]);
  });

  it("stay closed until reload if storage fails", () => {
    const fullStorage = {
      getItem: () => null,
      setItem: () => {
        throw new DOMException("", "QuotaExceededError");
      },
    };
    expect(closeMessage(fullStorage, "news")).toEqual(["news"]);
  });

  it("are limited to the last hundred closed messages", () => {
    const entries = new Map<string, string>();
    const storage = {
      getItem: (key: string) => entries.get(key) ?? null,
      setItem: (key: string, value: string) => void entries.set(key, value),
    };
    for (let index = 0; index < 120; index++) closeMessage(storage, String(index));
    expect(readClosedMessages(storage)).toHaveLength(100);
    expect(readClosedMessages(storage).at(-1)).toBe("119");
  });
});
