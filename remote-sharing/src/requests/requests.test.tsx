import { act, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeVaultSettings,
} from "@relicario/shared/testing";
import { markVerbatim } from "@relicario/shared/ui";
import { requestSizes, toSecretRequest } from "./request-draft.ts";
import RequestsPage from "./RequestsPage.tsx";
import CreateRequestPage from "./CreateRequestPage.tsx";

const secrets = [{ title: "Letter", content: "words" }];
const showPicture = async (name: string, action: string, text = "garden") => {
  const panel = await screen.findByRole("group", { name });
  await userEvent.upload(within(panel).getByLabelText("Choose a picture"), createPictureFile(text));
  await userEvent.click(within(panel).getByRole("button", { name: action }));
};

describe("creating a request", () => {
  const renderPage = (settings: FakeVaultSettings = {}, appSettings: Parameters<typeof renderApp>[1] = {}) =>
    renderApp(<CreateRequestPage />, { vault: createFakeVault({ secrets, ...settings }), ...appSettings });

  it("creates a link once an opener is presented", async () => {
    await renderPage();
    await userEvent.type(await screen.findByRole("textbox", { name: "What do you need?" }), "The deed");
    expect(screen.getByRole("textbox", { name: "Your name" })).toHaveValue("alba");
    await userEvent.click(screen.getByRole("button", { name: "Create link" }));
    await showPicture("Choose one of your pictures. It will open the answer.", "Create link");
    expect(await screen.findByRole("heading", { name: "Your link for “The deed” is ready" })).toHaveFocus();
    expect(screen.getByText(/\/request\/.*#s=key$/)).toBeVisible();
    await expectAccessible();
  });

  it("shows an error for each missing value, and creates nothing", async () => {
    const vault = createFakeVault({ secrets });
    await renderApp(<CreateRequestPage />, { vault });
    await userEvent.clear(await screen.findByRole("textbox", { name: "Your name" }));
    await userEvent.click(screen.getByRole("button", { name: "Create link" }));
    expect(await screen.findByText("Say what you need.")).toBeVisible();
    expect(screen.getByText("Enter your name.")).toBeVisible();
    expect(vault.calls).not.toContain("requests.create");
    await expectAccessible();
  });

  it("keeps the input if the limit of open requests is reached", async () => {
    const vault = createFakeVault({ secrets });
    vault.failWith("requests.create", "limit_reached");
    await renderApp(<CreateRequestPage />, { vault });
    await userEvent.type(await screen.findByRole("textbox", { name: "What do you need?" }), "The deed");
    await userEvent.click(screen.getByRole("button", { name: "Create link" }));
    expect(await screen.findByText(/You already have as many of these as possible/)).toBeVisible();
    expect(screen.getByRole("textbox", { name: "What do you need?" })).toHaveValue("The deed");
  });

  it("converts size and lifetime to bytes and a date", () => {
    const request = toSecretRequest(
      { title: "a", note: "", requesterName: "b", lifetime: "day", size: "film", notify: false },
      Date.parse("2026-11-22T10:00:00.000Z"),
    );
    expect(request).toEqual({
      title: "a",
      note: "",
      requesterName: "b",
      notify: false,
      expiresAt: "2026-11-23T10:00:00.000Z",
      maxSize: requestSizes.film,
    });
  });
});

describe("the list of requests", () => {
  const renderPage = (settings: FakeVaultSettings, appSettings: Parameters<typeof renderApp>[1] = {}) => {
    const vault = createFakeVault({ secrets, ...settings });
    return renderApp(<RequestsPage />, { vault, ...appSettings }).then((app) => ({ ...app, vault }));
  };
  const answeredRequest = {
    ownRequests: [{ title: "The deed", answer: { content: "number 7", note: "As you asked" } }],
  };
  const openAnswer = async () => {
    await userEvent.click(await screen.findByRole("button", { name: "Open the answer" }));
    await showPicture("Choose one of your pictures to open it.", "Open the answer");
    await screen.findByRole("group", { name: "Answer" });
  };

  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("shows requests in all five states (%s, %s)", async (language, theme) => {
    const ownRequests = (["awaiting", "provided", "collected", "expired", "revoked"] as const).map((state) => ({
      title: state,
      state,
    }));
    await renderPage({ ownRequests }, { language, theme });
    expect(await screen.findAllByRole("heading", { level: 2 })).toHaveLength(3);
    await userEvent.click(screen.getByRole("switch"));
    expect(await screen.findByRole("heading", { level: 2, name: "revoked" })).toBeVisible();
    expect(screen.getAllByRole("heading", { level: 2 })).toHaveLength(5);
    await expectAccessible();
  });

  it("opens an answer with a picture, and shows its note, hidden content and receipt words", async () => {
    await renderPage(answeredRequest);
    await openAnswer();
    expect(screen.getByText("As you asked")).toBeVisible();
    expect(screen.queryByText("number 7")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText("number 7")).toBeVisible();
    expect(
      within(screen.getByRole("list", { name: "Safety words of this answer" })).getAllByRole("listitem"),
    ).toHaveLength(8);
    await expectAccessible();
  });

  it("protects a record as a record, under its own name", async () => {
    const { vault } = await renderPage({
      ownRequests: [{ title: "Mail", answer: { content: "{}", contentKind: "record", name: "record.json" } }],
    });
    await openAnswer();
    await userEvent.click(screen.getByRole("button", { name: "Protect as my secret" }));
    await screen.findByText(/It is now one of your secrets/);
    expect((await vault.list()).find(({ label }) => label?.title === "Mail")?.label).toMatchObject({
      contentKind: "record",
      name: "record.json",
    });
  });

  it("protects the answer as a secret", async () => {
    const { vault } = await renderPage(answeredRequest);
    await openAnswer();
    await userEvent.click(screen.getByRole("button", { name: "Protect as my secret" }));
    expect(await screen.findByText(/It is now one of your secrets/)).toBeVisible();
    expect((await vault.list()).map(({ label }) => label?.title)).toContain("The deed");
  });

  it("collects the answer, and deletes it after a confirmation", async () => {
    const { vault, record } = await renderPage(answeredRequest);
    await openAnswer();
    await userEvent.click(screen.getByRole("button", { name: "Mark as received, delete in 7 days" }));
    expect(await screen.findByText("Received")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Delete" }));
    expect(record.confirms).toMatchObject([{ title: "Delete the answer?", danger: true }]);
    expect(await screen.findByText("No requests yet")).toBeVisible();
    expect(vault.calls).toContain("requests.drop");
  });

  it("wipes the answer at a lock", async () => {
    const { record } = await renderPage(answeredRequest);
    await openAnswer();
    await act(async () => {
      for (const listener of [...record.lockListeners]) await listener("lock");
    });
    expect(await screen.findByRole("button", { name: "Open the answer" })).toBeVisible();
    expect(screen.queryByRole("group", { name: "Answer" })).not.toBeInTheDocument();
  });

  it("shows the link of a waiting request, and revokes it after a confirmation", async () => {
    const { record } = await renderPage({ ownRequests: [{ title: "The deed" }] });
    await userEvent.click(await screen.findByRole("button", { name: "Show link" }));
    await showPicture("Choose one of your pictures to see the link.", "Show link");
    expect(await screen.findByText(/\/request\/.*#s=key$/)).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Cancel request" }));
    expect(record.confirms).toHaveLength(1);
    expect(await screen.findByText("No requests yet")).toBeVisible();
  });

  it("shows a notice of a new answer once", async () => {
    const { queryClient, record, vault } = await renderPage({ ownRequests: [{ requestId: "r", title: "The deed" }] });
    await screen.findByText("Waiting for an answer");
    vault.answerElsewhere("r");
    await queryClient.refetchQueries();
    expect(await screen.findByText(/^Answered on /)).toBeVisible();
    await queryClient.refetchQueries();
    expect(record.notices).toEqual([{ tone: "success", text: `Answered: ${markVerbatim("The deed")}` }]);
  });

  it.each([
    { title: "nobody answered", state: "expired", expiresAt: "2026-11-01T10:00:00.000Z" },
    { title: "content gone", state: "collected", collectedAt: "2026-11-01T10:00:00.000Z" },
  ] as const)("deletes an ended request after a confirmation: $title", async (request) => {
    const { record, vault } = await renderPage({ ownRequests: [request] });
    await userEvent.click(await screen.findByRole("switch"));
    await screen.findByRole("heading", { level: 2, name: request.title });
    expect(screen.queryByRole("button", { name: "Open the answer" })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Delete" }));
    expect(record.confirms).toMatchObject([{ title: "Delete this request?", danger: true }]);
    expect(await screen.findByText("No requests yet")).toBeVisible();
    expect(await vault.requests.list({ includeEnded: true })).toEqual([]);
  });

  it("only offers to end a request that only the service lists", async () => {
    await renderPage({ ownRequests: [{ title: "", discrepancy: "unknown" }] });
    expect(await screen.findByRole("heading", { level: 2, name: "Untitled request" })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Show link" })).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Cancel request" }));
    expect(await screen.findByText("No requests yet")).toBeVisible();
  });

  it.each(["hidden", "unknown", "not_revoked_here", "still_served"] as const)(
    "explains the discrepancy %s",
    async (discrepancy) => {
      await renderPage({ ownRequests: [{ title: "The deed", discrepancy }] });
      expect(await screen.findByText("The service shows something other than what you signed")).toBeVisible();
    },
  );
});
