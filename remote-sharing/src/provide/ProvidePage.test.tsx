import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { RequestPreview } from "@relicario/shared/contract";
import { createFakeRequestVisitor, createFakeVisitor, expectAccessible, renderApp } from "@relicario/shared/testing";
import ProvidePage from "./ProvidePage.tsx";

async function renderPage(overrides: Partial<RequestPreview> = {}, appSettings: Parameters<typeof renderApp>[1] = {}) {
  const requests = createFakeRequestVisitor(overrides);
  const app = await renderApp(<ProvidePage />, {
    route: "/request/:requestId",
    path: "/request/abcdefghijklmnopqrstuw",
    visitor: createFakeVisitor({ requests }),
    ...appSettings,
  });
  return { ...app, requests };
}
const send = () => userEvent.click(screen.getByRole("button", { name: "Seal and send" }));

describe("answering a request", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("says who asks, for what, and that only the link vouches for it (%s, %s)", async (language, theme) => {
    await renderPage({ note: "For the notary" }, { language, theme });
    expect(await screen.findByRole("heading", { level: 2, name: "The deed" })).toBeVisible();
    expect(screen.getByText("For the notary")).toBeVisible();
    if (language === "en") expect(screen.getByText(/^The person who made the link goes by Alba\./)).toBeVisible();
    await expectAccessible();
  });

  it("sends a text exactly as typed, and shows the receipt", async () => {
    const { requests } = await renderPage();
    await userEvent.type(await screen.findByRole("textbox", { name: "Your text" }), " number 7 ");
    await userEvent.type(screen.getByRole("textbox", { name: /^A note to go with it/ }), "here");
    await send();
    expect(await screen.findByRole("heading", { name: "It was sent" })).toHaveFocus();
    expect(within(screen.getByRole("list", { name: "Words of your receipt" })).getAllByRole("listitem")).toHaveLength(
      8,
    );
    expect(screen.getByText("You can close this page.")).toBeVisible();
    expect(requests.sent).toEqual([
      { contentKind: "text", name: "secret.txt", mime: "text/plain", text: " number 7 ", note: "here" },
    ]);
    await expectAccessible();
  });

  it("checks a seed phrase on the device, and sends it with its kind", async () => {
    const { requests } = await renderPage();
    await userEvent.click(await screen.findByRole("radio", { name: "Seed phrase" }));
    await userEvent.click(screen.getByRole("textbox", { name: "Your seed phrase" }));
    await userEvent.paste(`${"abandon ".repeat(11)}about`);
    expect(await screen.findByText("12 words in English, and they fit together.")).toBeVisible();
    await send();
    await screen.findByRole("heading", { name: "It was sent" });
    expect(requests.sent[0]?.contentKind).toBe("seed");
  });

  it("goes on with a file that was begun, when it is chosen again", async () => {
    const { requests } = await renderPage({ unfinishedAnswer: { name: "film.mp4", size: 9, sent: 4 } });
    expect(await screen.findByText("You began to send something")).toBeVisible();
    await userEvent.upload(
      screen.getByLabelText("File to send"),
      new File(["film"], "film.mp4", { type: "video/mp4" }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Continue sending" }));
    await screen.findByRole("heading", { name: "It was sent" });
    expect(requests.sent[0]).toMatchObject({ contentKind: "file", name: "film.mp4", mime: "video/mp4" });
  });

  it("refuses another file than the one that was begun, and begins again with it when that is wanted", async () => {
    const { requests } = await renderPage({ unfinishedAnswer: { name: "film.mp4", size: 9, sent: 4 } });
    requests.failWith("answer", "file_changed");
    await userEvent.upload(
      await screen.findByLabelText("File to send"),
      new File(["other"], "other.mp4", { type: "video/mp4" }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Continue sending" }));
    const restartButton = await screen.findByRole("button", { name: "Begin again with this" });
    expect(requests.sent).toEqual([]);
    expect(screen.getByRole("alert")).toHaveTextContent("begin again with this");
    await expectAccessible();
    await userEvent.click(restartButton);
    await screen.findByRole("heading", { name: "It was sent" });
    expect(requests.sent[0]).toMatchObject({ name: "other.mp4", text: "other" });
  });

  it("says that what was sent before counts, where that had arrived", async () => {
    const requests = createFakeRequestVisitor({ unfinishedAnswer: { name: "film.mp4", size: 9, sent: 9 } });
    const earlierAnswer = {
      ...requests,
      answer: () =>
        Promise.resolve({
          receiptWords: ["one", "two", "three", "four", "five", "six", "seven", "eight"],
          fromEarlierAnswer: true as const,
        }),
    };
    await renderPage({}, { visitor: createFakeVisitor({ requests: earlierAnswer }) });
    await userEvent.upload(
      await screen.findByLabelText("File to send"),
      new File(["other"], "other.mp4", { type: "video/mp4" }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Continue sending" }));
    expect(await screen.findByRole("heading", { name: "What you sent before counts" })).toHaveFocus();
    expect(screen.getByText(/What you chose now was not sent/)).toBeVisible();
    await expectAccessible();
  });

  it("shows the receipt of an answer that was taken when nobody heard of it", async () => {
    await renderPage({
      state: "provided",
      receiptWords: ["one", "two", "three", "four", "five", "six", "seven", "eight"],
    });
    expect(await screen.findByRole("heading", { name: "It was sent" })).toBeVisible();
    expect(
      within(screen.getByRole("list", { name: "Words of your receipt" })).getAllByRole("listitem")[7],
    ).toHaveTextContent("eight");
  });

  it("refuses what is larger than was asked for before anything is sent", async () => {
    const { requests } = await renderPage({ maxSize: 3 });
    await userEvent.type(await screen.findByRole("textbox", { name: "Your text" }), "four");
    await send();
    expect(await screen.findByText("That is too large: 3 bytes were asked for at most.")).toBeVisible();
    expect(requests.sent).toEqual([]);
  });

  it("keeps what was typed when another answer was first", async () => {
    const { requests } = await renderPage();
    requests.failWith("answer", "request_closed");
    await userEvent.type(await screen.findByRole("textbox", { name: "Your text" }), "number 7");
    await send();
    expect(await screen.findByText(/another answer came first/)).toBeVisible();
    expect(screen.getByRole("textbox", { name: "Your text" })).toHaveValue("number 7");
  });

  it.each([
    ["request_unavailable", "This request takes no answer"],
    ["link_incomplete", "The link is not complete"],
    ["decryption_failed", "This is not what the link's maker asked for"],
  ] as const)("says what %s means, and offers no form", async (code, title) => {
    const requests = createFakeRequestVisitor();
    requests.failWith("previewRequest", code);
    await renderPage({}, { visitor: createFakeVisitor({ requests }) });
    expect(await screen.findByRole("heading", { name: title })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Seal and send" })).not.toBeInTheDocument();
    await expectAccessible();
  });

  it.each(["provided", "collected", "expired", "revoked"] as const)("takes no answer when it is %s", async (state) => {
    await renderPage({ state });
    expect(await screen.findByRole("heading", { name: "This request takes no answer" })).toBeVisible();
  });

  it("asks before what was typed is lost", async () => {
    const { goTo, record, location } = await renderPage({}, { confirmAnswer: false });
    await userEvent.type(await screen.findByRole("textbox", { name: "Your text" }), "number 7");
    await goTo("/secret-landing");
    expect(record.confirms).toHaveLength(1);
    expect(location()).toBe("/request/abcdefghijklmnopqrstuw");
  });
});
