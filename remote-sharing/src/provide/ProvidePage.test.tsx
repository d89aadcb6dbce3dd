import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { parseRecord } from "@relicario/shared/api";
import type { RequestPreview } from "@relicario/shared/contract";
import {
  createFakeRequestVisitor,
  createFakeVisitor,
  expectAccessible,
  renderApp,
  wholeText,
} from "@relicario/shared/testing";
import ProvidePage from "./ProvidePage.tsx";

async function renderPage(overrides: Partial<RequestPreview> = {}, appSettings: Parameters<typeof renderApp>[1] = {}) {
  const requests = createFakeRequestVisitor(overrides);
  const app = await renderApp(<ProvidePage />, {
    routePattern: "/request/:requestId",
    path: "/request/abcdefghijklmnopqrstuw",
    visitor: createFakeVisitor({ requests }),
    ...appSettings,
  });
  return { ...app, requests };
}
const send = () => userEvent.click(screen.getByRole("button", { name: "Encrypt and send" }));

describe("answering a request", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("shows requester and request, which only the link authenticates (%s, %s)", async (language, theme) => {
    await renderPage({ note: "For the notary" }, { language, theme });
    expect(await screen.findByRole("heading", { level: 2, name: "The deed" })).toBeVisible();
    expect(screen.getByText("For the notary")).toBeVisible();
    if (language === "en")
      expect(screen.getByText(wholeText(/^The person who created this link uses the name “Alba”\./))).toBeVisible();
    await expectAccessible();
  });

  it("sends a text exactly as typed, and shows the receipt", async () => {
    const { requests } = await renderPage();
    await userEvent.type(await screen.findByRole("textbox", { name: "Your text" }), " number 7 ");
    await userEvent.type(screen.getByRole("textbox", { name: /^Note/ }), "here");
    await send();
    expect(await screen.findByRole("heading", { name: "Sent" })).toHaveFocus();
    expect(
      within(screen.getByRole("list", { name: "Safety words of your answer" })).getAllByRole("listitem"),
    ).toHaveLength(8);
    expect(screen.getByText("You can close this page.")).toBeVisible();
    expect(requests.sent).toEqual([
      { contentKind: "text", name: "secret.txt", mime: "text/plain", text: " number 7 ", note: "here" },
    ]);
    await expectAccessible();
  });

  it("checks a seed phrase on the device, and sends it as a seed phrase", async () => {
    const { requests } = await renderPage();
    await userEvent.click(await screen.findByRole("radio", { name: "Seed phrase" }));
    await userEvent.click(screen.getByRole("textbox", { name: "Your seed phrase" }));
    await userEvent.paste(`${"abandon ".repeat(11)}about`);
    expect(await screen.findByText("12 words in English: the phrase is valid.")).toBeVisible();
    await send();
    await screen.findByRole("heading", { name: "Sent" });
    expect(requests.sent[0]?.contentKind).toBe("seed");
  });

  it("sends a record with its fields", async () => {
    const { requests } = await renderPage();
    await userEvent.click(await screen.findByRole("radio", { name: "Record" }));
    await send();
    expect(await screen.findByText("Give at least one field a value.")).toBeVisible();
    await userEvent.type(within(screen.getByRole("group", { name: "Field 2" })).getByLabelText("Value"), "pw");
    await expectAccessible();
    await send();
    await screen.findByRole("heading", { name: "Sent" });
    expect(requests.sent).toMatchObject([{ contentKind: "record", name: "record.json", mime: "application/json" }]);
    expect(parseRecord(requests.sent[0]?.text ?? "")).toEqual([{ label: "Password", value: "pw", kind: "secret" }]);
  });

  it("resumes an unfinished file when it is chosen again", async () => {
    const { requests } = await renderPage({ unfinishedAnswer: { name: "film.mp4", size: 9, sentBytes: 4 } });
    expect(await screen.findByText("You already started sending")).toBeVisible();
    await userEvent.upload(
      screen.getByLabelText("File to send"),
      new File(["film"], "film.mp4", { type: "video/mp4" }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    await screen.findByRole("heading", { name: "Sent" });
    expect(requests.sent[0]).toMatchObject({ contentKind: "file", name: "film.mp4", mime: "video/mp4" });
  });

  it("rejects another file, and restarts with it on request", async () => {
    const { requests } = await renderPage({ unfinishedAnswer: { name: "film.mp4", size: 9, sentBytes: 4 } });
    requests.failWith("answer", "file_changed");
    await userEvent.upload(
      await screen.findByLabelText("File to send"),
      new File(["other"], "other.mp4", { type: "video/mp4" }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    const restartButton = await screen.findByRole("button", { name: "Start over" });
    expect(requests.sent).toEqual([]);
    expect(screen.getByRole("alert")).toHaveTextContent("start over with this");
    await expectAccessible();
    await userEvent.click(restartButton);
    await screen.findByRole("heading", { name: "Sent" });
    expect(requests.sent[0]).toMatchObject({ name: "other.mp4", text: "other" });
  });

  it("says that an earlier answer was accepted in place of the new one", async () => {
    const requests = createFakeRequestVisitor({ unfinishedAnswer: { name: "film.mp4", size: 9, sentBytes: 9 } });
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
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByRole("heading", { name: "Your earlier answer counts" })).toHaveFocus();
    expect(screen.getByText(/What you chose now was not sent/)).toBeVisible();
    await expectAccessible();
  });

  it("shows the receipt if the answer was accepted although the response was lost", async () => {
    await renderPage({
      state: "provided",
      receiptWords: ["one", "two", "three", "four", "five", "six", "seven", "eight"],
    });
    expect(await screen.findByRole("heading", { name: "Sent" })).toBeVisible();
    expect(
      within(screen.getByRole("list", { name: "Safety words of your answer" })).getAllByRole("listitem")[7],
    ).toHaveTextContent("eight");
  });

  it("rejects an answer above the requested size before sending", async () => {
    const { requests } = await renderPage({ maxSize: 3 });
    await userEvent.type(await screen.findByRole("textbox", { name: "Your text" }), "four");
    await send();
    expect(await screen.findByText("Too large: the limit is 3 bytes.")).toBeVisible();
    expect(requests.sent).toEqual([]);
  });

  it("keeps the input if another answer was accepted first", async () => {
    const { requests } = await renderPage();
    requests.failWith("answer", "request_closed");
    await userEvent.type(await screen.findByRole("textbox", { name: "Your text" }), "number 7");
    await send();
    expect(await screen.findByText(/another answer came first/)).toBeVisible();
    expect(screen.getByRole("textbox", { name: "Your text" })).toHaveValue("number 7");
  });

  it.each([
    ["request_unavailable", "This request is closed"],
    ["link_incomplete", "Open the link again"],
    ["decryption_failed", "This request does not match the link"],
  ] as const)("explains without a form why it is not possible: %s", async (code, title) => {
    const requests = createFakeRequestVisitor();
    requests.failWith("previewRequest", code);
    await renderPage({}, { visitor: createFakeVisitor({ requests }) });
    expect(await screen.findByRole("heading", { name: title })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Encrypt and send" })).not.toBeInTheDocument();
    await expectAccessible();
  });

  it.each(["provided", "collected", "expired", "revoked"] as const)(
    "is not possible when the request is %s",
    async (state) => {
      await renderPage({ state });
      expect(await screen.findByRole("heading", { name: "This request is closed" })).toBeVisible();
    },
  );

  it("asks before input is lost", async () => {
    const { goTo, record, getLocation } = await renderPage({}, { confirmAnswer: false });
    await userEvent.type(await screen.findByRole("textbox", { name: "Your text" }), "number 7");
    await goTo("/secret-landing");
    expect(record.confirms).toHaveLength(1);
    expect(getLocation()).toBe("/request/abcdefghijklmnopqrstuw");
  });
});
