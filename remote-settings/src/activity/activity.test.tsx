import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { activityKindsByTopic, ActivityKind, type ActivityResponse, type ActivityEntry } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, expectAccessible, renderApp } from "@relicario/shared/testing";
import ActivityPage from "./ActivityPage.tsx";
import { groupByDay } from "./activity.ts";

const createEntry = (number: number, entry: Partial<ActivityEntry> = {}): ActivityEntry => ({
  id: `01890a5d-ac96-7000-8000-${String(number).padStart(12, "0")}`,
  at: "2026-11-20T09:00:00.000Z",
  kind: "signed_in",
  count: 1,
  secret: null,
  device: null,
  address: null,
  ...entry,
});
const createPage = (entries: readonly ActivityEntry[], next_cursor: string | null = null): ActivityResponse => ({
  entries: [...entries],
  next_cursor,
});

/** Triggers the IntersectionObserver at the end of the list. */
let scrollToEnd: () => void = () => undefined;
beforeEach(() => {
  scrollToEnd = () => undefined;
  globalThis.IntersectionObserver = class {
    constructor(callback: IntersectionObserverCallback) {
      scrollToEnd = () => {
        callback([{ isIntersecting: true } as IntersectionObserverEntry], this as unknown as IntersectionObserver);
      };
    }
    observe(): void {}
    disconnect(): void {}
  } as unknown as typeof IntersectionObserver;
});

describe("the activity page", () => {
  it("shows activity as sentences, grouped by day", async () => {
    const entries = [
      createEntry(3, { kind: "secret_purged", count: 3, at: "2026-11-21T10:00:00.000Z" }),
      createEntry(2, { kind: "secret_added", secret: "0a1b2c3d" }),
      createEntry(1, { device: "Firefox, Linux", address: "192.0.2.x" }),
    ];
    await renderApp(<ActivityPage />, {
      http: createFakeHttpClient({ "GET /user/activity": () => createPage(entries) }),
    });
    const laterEntries = within(await screen.findByRole("region", { name: "21 Nov 2026" })).getAllByRole("listitem");
    const earlierEntries = within(screen.getByRole("region", { name: "20 Nov 2026" })).getAllByRole("listitem");
    expect(laterEntries.map(({ textContent }) => textContent)).toEqual([
      expect.stringContaining("3 secrets were deleted for good."),
    ]);
    expect(earlierEntries.map(({ textContent }) => textContent)).toEqual([
      expect.stringMatching(/A secret was added\.Secret …0a1b2c3d$/),
      expect.stringMatching(/Someone signed in: you, .*\.Firefox, Linux · 192\.0\.2\.x$/),
    ]);
    await expectAccessible();
  });

  it.each(["en", "es"] as const)("has a sentence for every kind of activity, in %s", async (language) => {
    const entries = ActivityKind.options.map((kind, index) => createEntry(index, { kind }));
    await renderApp(<ActivityPage />, {
      language,
      http: createFakeHttpClient({ "GET /user/activity": () => createPage(entries) }),
    });
    const sentences = within(await screen.findByRole("region"))
      .getAllByRole("listitem")
      .map(({ textContent }) => textContent);
    expect(new Set(sentences).size).toBe(entries.length);
    expect(Object.values(activityKindsByTopic).flat().toSorted()).toEqual(ActivityKind.options.toSorted());
  });

  it("filters by topic", async () => {
    const http = createFakeHttpClient({
      "GET /user/activity": ({ query }) =>
        createPage(query?.["topic"] === "sharing" ? [createEntry(1, { kind: "shared" })] : [createEntry(2)]),
    });
    await renderApp(<ActivityPage />, { http });
    await userEvent.selectOptions(await screen.findByRole("combobox", { name: "Show" }), "Sharing and requests");
    expect(await screen.findByText("A secret was shared.")).toBeVisible();
    expect(screen.queryByText(/signed in/)).not.toBeInTheDocument();
    expect(http.calls.at(-1)).toMatchObject({ query: { topic: "sharing" } });
  });

  it("says if there is no activity", async () => {
    await renderApp(<ActivityPage />, { http: createFakeHttpClient({ "GET /user/activity": () => createPage([]) }) });
    expect(await screen.findByText("No activity")).toBeVisible();
  });

  it("loads the next page near the end of the list, and by a button", async () => {
    const cursors: unknown[] = [];
    const http = createFakeHttpClient({
      "GET /user/activity": ({ query }) => {
        cursors.push(query?.["cursor"]);
        const page = cursors.length;
        return createPage([createEntry(page, { kind: "shared" })], page < 3 ? createEntry(page).id : null);
      },
    });
    await renderApp(<ActivityPage />, { http });
    await screen.findByRole("button", { name: "Show more" });
    act(() => {
      scrollToEnd();
    });
    await waitFor(() => {
      expect(screen.getAllByText("A secret was shared.")).toHaveLength(2);
    });
    await userEvent.click(screen.getByRole("button", { name: "Show more" }));
    await waitFor(() => {
      expect(screen.getAllByText("A secret was shared.")).toHaveLength(3);
    });
    expect(screen.queryByRole("button", { name: "Show more" })).not.toBeInTheDocument();
    expect(cursors).toEqual([undefined, createEntry(1).id, createEntry(2).id]);
  });

  it("keeps its entries if loading the next page fails, and offers a retry", async () => {
    const http = createFakeHttpClient({
      "GET /user/activity": ({ query }) =>
        query?.["cursor"] === undefined
          ? createPage([createEntry(2)], createEntry(2).id)
          : createPage([createEntry(1, { kind: "shared" })]),
    });
    await renderApp(<ActivityPage />, { http });
    const moreButton = await screen.findByRole("button", { name: "Show more" });
    http.failWith("forbidden");
    await userEvent.click(moreButton);
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(screen.getByText(/signed in/)).toBeVisible();
    http.failWith(null);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("A secret was shared.")).toBeVisible();
  });

  it("shows a failure", async () => {
    const http = createFakeHttpClient({
      "GET /user/activity": () => {
        throw new PortalError("service_unavailable");
      },
    });
    await renderApp(<ActivityPage />, { http });
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
  });
});

it("groupByDay keeps the order of entries", () => {
  const entries = [createEntry(3, { at: "2026-11-22T00:00:00.000Z" }), createEntry(2), createEntry(1)];
  expect(groupByDay(entries, (timestamp) => timestamp.slice(0, 10))).toEqual([
    { date: "2026-11-22", entries: entries.slice(0, 1) },
    { date: "2026-11-20", entries: entries.slice(1) },
  ]);
});
