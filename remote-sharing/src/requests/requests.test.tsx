import { act, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeVaultSettings,
} from "@relicario/shared/testing";
import { requestSizes, toSecretRequest } from "./request-draft.ts";
import RequestsPage from "./RequestsPage.tsx";
import CreateRequestPage from "./CreateRequestPage.tsx";

const secrets = [{ title: "Letter", content: "words" }];
const showPicture = async (name: string, action: string, text = "garden") => {
  const panel = await screen.findByRole("group", { name });
  await userEvent.upload(within(panel).getByLabelText("Choose a picture"), createPictureFile(text));
  await userEvent.click(within(panel).getByRole("button", { name: action }));
};

describe("asking for a secret", () => {
  const renderPage = (settings: FakeVaultSettings = {}, appSettings: Parameters<typeof renderApp>[1] = {}) =>
    renderApp(<CreateRequestPage />, { vault: createFakeVault({ secrets, ...settings }), ...appSettings });

  it("makes a link to hand on, once a picture was shown", async () => {
    await renderPage();
    await userEvent.type(await screen.findByRole("textbox", { name: "What do you need?" }), "The deed");
    expect(screen.getByRole("textbox", { name: "Who asks?" })).toHaveValue("alba");
    await userEvent.click(screen.getByRole("button", { name: "Make the link" }));
    await showPicture("Show one of your pictures: what comes is sealed to keys that it opens.", "Make the link");
    expect(await screen.findByRole("heading", { name: "“The deed” can be asked for now" })).toHaveFocus();
    expect(screen.getByText(/\/request\/.*#s=key$/)).toBeVisible();
    await expectAccessible();
  });

  it("says what is missing, and makes nothing", async () => {
    const vault = createFakeVault({ secrets });
    await renderApp(<CreateRequestPage />, { vault });
    await userEvent.clear(await screen.findByRole("textbox", { name: "Who asks?" }));
    await userEvent.click(screen.getByRole("button", { name: "Make the link" }));
    expect(await screen.findByText("Say what you need.")).toBeVisible();
    expect(screen.getByText("Say who asks.")).toBeVisible();
    expect(vault.calls).not.toContain("requests.create");
    await expectAccessible();
  });

  it("keeps what was typed when twenty are open already", async () => {
    const vault = createFakeVault({ secrets });
    vault.failWith("requests.create", "limit_reached");
    await renderApp(<CreateRequestPage />, { vault });
    await userEvent.type(await screen.findByRole("textbox", { name: "What do you need?" }), "The deed");
    await userEvent.click(screen.getByRole("button", { name: "Make the link" }));
    expect(await screen.findByText(/You have as many of these open as are allowed/)).toBeVisible();
    expect(screen.getByRole("textbox", { name: "What do you need?" })).toHaveValue("The deed");
  });

  it("asks for bytes of plain content until a day from now", () => {
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

describe("what was asked for", () => {
  const renderPage = (settings: FakeVaultSettings, appSettings: Parameters<typeof renderApp>[1] = {}) => {
    const vault = createFakeVault({ secrets, ...settings });
    return renderApp(<RequestsPage />, { vault, ...appSettings }).then((app) => ({ ...app, vault }));
  };
  const answeredRequest = {
    ownRequests: [{ title: "The deed", answer: { content: "number 7", note: "As you asked" } }],
  };
  const openAnswer = async () => {
    await userEvent.click(await screen.findByRole("button", { name: "Open what came" }));
    await showPicture("Show one of your pictures to open it.", "Open what came");
    await screen.findByRole("group", { name: "What came" });
  };

  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("shows all five states (%s, %s)", async (language, theme) => {
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

  it("opens what came with a picture: note, content hidden until asked for, and the words of the receipt", async () => {
    await renderPage(answeredRequest);
    await openAnswer();
    expect(screen.getByText("As you asked")).toBeVisible();
    expect(screen.queryByText("number 7")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText("number 7")).toBeVisible();
    expect(within(screen.getByRole("list", { name: "Words of the receipt" })).getAllByRole("listitem")).toHaveLength(8);
    await expectAccessible();
  });

  it("keeps it among one's own secrets", async () => {
    const { vault } = await renderPage(answeredRequest);
    await openAnswer();
    await userEvent.click(screen.getByRole("button", { name: "Keep it among my secrets" }));
    expect(await screen.findByText(/It is among your secrets now/)).toBeVisible();
    expect((await vault.list()).map(({ label }) => label?.title)).toContain("The deed");
  });

  it("collects it, and deletes it after a question", async () => {
    const { vault, record } = await renderPage(answeredRequest);
    await openAnswer();
    await userEvent.click(screen.getByRole("button", { name: "I have it" }));
    expect(await screen.findByText("Collected")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Delete it" }));
    expect(record.confirms).toMatchObject([{ title: "Delete what came?", danger: true }]);
    expect(await screen.findByText("You have not asked for anything")).toBeVisible();
    expect(vault.calls).toContain("requests.drop");
  });

  it("puts it away when the portal locks", async () => {
    const { record } = await renderPage(answeredRequest);
    await openAnswer();
    await act(async () => {
      for (const listener of [...record.lockListeners]) await listener("lock");
    });
    expect(await screen.findByRole("button", { name: "Open what came" })).toBeVisible();
    expect(screen.queryByRole("group", { name: "What came" })).not.toBeInTheDocument();
  });

  it("shows the link of one that waits, and takes it back after a question", async () => {
    const { record } = await renderPage({ ownRequests: [{ title: "The deed" }] });
    await userEvent.click(await screen.findByRole("button", { name: "Show the link" }));
    await showPicture("Show one of your pictures to see the link.", "Show the link");
    expect(await screen.findByText(/\/request\/.*#s=key$/)).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Take it back" }));
    expect(record.confirms).toHaveLength(1);
    expect(await screen.findByText("You have not asked for anything")).toBeVisible();
  });

  it("tells that something came, once", async () => {
    const { queryClient, record, vault } = await renderPage({ ownRequests: [{ requestId: "r", title: "The deed" }] });
    await screen.findByText("Waiting for an answer");
    vault.answerElsewhere("r");
    await queryClient.refetchQueries();
    expect(await screen.findByText("Something came")).toBeVisible();
    await queryClient.refetchQueries();
    expect(record.notices).toEqual([{ tone: "success", text: "Something came: The deed" }]);
  });

  it.each([
    { title: "nobody answered", state: "expired", expiresAt: "2026-11-01T10:00:00.000Z" },
    { title: "content gone", state: "collected", collectedAt: "2026-11-01T10:00:00.000Z" },
  ] as const)("deletes one that is over after a question: $title", async (request) => {
    const { record, vault } = await renderPage({ ownRequests: [request] });
    await userEvent.click(await screen.findByRole("switch"));
    await screen.findByRole("heading", { level: 2, name: request.title });
    expect(screen.queryByRole("button", { name: "Open what came" })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Delete it" }));
    expect(record.confirms).toMatchObject([{ title: "Delete this request?", danger: true }]);
    expect(await screen.findByText("You have not asked for anything")).toBeVisible();
    expect(await vault.requests.list({ includeEnded: true })).toEqual([]);
  });

  it("ends one that only the service names, and offers nothing else of it", async () => {
    await renderPage({ ownRequests: [{ title: "", discrepancy: "unknown" }] });
    expect(await screen.findByRole("heading", { level: 2, name: "Request without a title" })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Show the link" })).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Take it back" }));
    expect(await screen.findByText("You have not asked for anything")).toBeVisible();
  });

  it.each(["hidden", "unknown", "not_revoked_here", "still_served"] as const)(
    "says in words what does not fit: %s",
    async (discrepancy) => {
      await renderPage({ ownRequests: [{ title: "The deed", discrepancy }] });
      expect(await screen.findByText("This does not fit what you signed")).toBeVisible();
    },
  );
});
