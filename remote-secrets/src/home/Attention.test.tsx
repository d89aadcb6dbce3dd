import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { SecretRow } from "@relicario/shared/contract";
import {
  createFakeHttpClient,
  createFakeVault,
  expectAccessible,
  renderApp,
  wholeText,
} from "@relicario/shared/testing";
import { createMe } from "../testing/me.ts";
import { Attention, findExpiringShares } from "./Attention.tsx";

const dayMilliseconds = 86_400_000;
const now = Date.parse("2026-11-21T12:00:00Z");
const daysAgo = (days: number, from = now) => new Date(from - days * dayMilliseconds).toISOString();

function createRow(
  title: string,
  updatedAt: string,
  overrides: Partial<SecretRow> = {},
  copyCheckedAt: string | null = null,
): SecretRow {
  const label = {
    title,
    tags: [],
    contentKind: "text" as const,
    name: "secret.txt",
    size: 1,
    openerIds: [],
    copyCheckedAt,
    kits: [],
  };
  return {
    secretId: `id-${title}`,
    version: 1,
    rev: 1,
    favorite: false,
    sealedSize: 1,
    createdAt: updatedAt,
    updatedAt,
    deletedAt: null,
    trashConfirmedAt: null,
    droppedAt: null,
    label,
    ...overrides,
  };
}

describe("findExpiringShares", () => {
  const createShare = (secretId: string, hours: number) => ({
    shareId: `${secretId}-${String(hours)}`,
    secretId,
    version: 1,
    audience: "public" as const,
    createdAt: daysAgo(5),
    expiresAt: new Date(now + hours * 3_600_000).toISOString(),
    revokedAt: null,
  });
  const rows = [createRow("a", daysAgo(1)), createRow("b", daysAgo(1)), createRow("c", daysAgo(1))];

  it("finds secrets whose last share expires within two days, soonest first", () => {
    const shares = [createShare("id-a", 40), createShare("id-b", 3), createShare("id-c", 3), createShare("id-c", 100)];
    expect(findExpiringShares(shares, rows, now).map(({ title }) => title)).toEqual(["b", "a"]);
  });

  it("ignores shares of unknown secrets", () => {
    expect(findExpiringShares([createShare("other", 3)], rows, now)).toEqual([]);
  });
});

describe("Attention", () => {
  it("suggests a copy check, and opens it", async () => {
    const { record } = await renderApp(
      <main>
        <h1>Home</h1>
        <Attention vault={createFakeVault()} rows={[createRow("Diary", daysAgo(200, Date.now()))]} />
      </main>,
    );
    expect(await screen.findByText("One secret has not been opened for a long time")).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Check with “Diary”" }));
    expect(record.paths).toEqual(["/provide-image-recovery?check=id-Diary"]);
  });

  it("warns that a share expires soon, and links to it", async () => {
    const vault = createFakeVault({
      secrets: [{ title: "Diary", content: "x" }],
      shares: [{ shareId: "one", secretId: "id-Diary", expiresAt: new Date(Date.now() + 3_600_000).toISOString() }],
    });
    await renderApp(
      <main>
        <h1>Home</h1>
        <Attention vault={vault} rows={[createRow("Diary", daysAgo(1, Date.now()))]} />
      </main>,
    );
    expect(await screen.findByText(wholeText("A share of “Diary” expires soon"))).toBeVisible();
    expect(screen.getByRole("link", { name: "Go to its shares" })).toHaveAttribute("href", "/share/id-Diary");
    await expectAccessible();
  });

  it("reports the next due date once, and only if the service has another date", async () => {
    const rows = [
      createRow("Diary", "2026-11-01T09:00:00.000Z"),
      createRow("Letter", "2026-11-05T09:00:00.000Z", {}, "2026-11-10T09:00:00.000Z"),
    ];
    const dueAt = "2027-04-30T09:00:00.000Z";
    const meWithDueDate = { ...createMe("alba@example.org", true), rehearsal_due_at: dueAt };
    const http = createFakeHttpClient({
      "GET /user/me": () => createMe("alba@example.org", true),
      "POST /user/me": () => meWithDueDate,
    });
    await renderApp(<Attention vault={createFakeVault()} rows={rows} />, { http });
    await waitFor(() => {
      expect(http.calls.filter(({ method }) => method === "POST").map(({ body }) => body)).toEqual([
        { rehearsal_due_at: dueAt },
      ]);
    });
    const upToDateHttp = createFakeHttpClient({ "GET /user/me": () => meWithDueDate });
    const { queryClient } = await renderApp(<Attention vault={createFakeVault()} rows={rows} />, {
      http: upToDateHttp,
    });
    await waitFor(() => {
      expect(queryClient.isFetching()).toBe(0);
    });
    expect(upToDateHttp.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("reports no due date while labels are locked", async () => {
    const http = createFakeHttpClient({
      "GET /user/me": () => ({ ...createMe("alba@example.org", true), rehearsal_due_at: "2027-04-30T09:00:00.000Z" }),
    });
    const { queryClient } = await renderApp(
      <Attention vault={createFakeVault()} rows={[createRow("locked", daysAgo(1), { label: null })]} />,
      { http },
    );
    await waitFor(() => {
      expect(queryClient.isFetching()).toBe(0);
    });
    expect(http.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("renders nothing if nothing needs attention", async () => {
    await renderApp(<Attention vault={createFakeVault()} rows={[createRow("Diary", daysAgo(1, Date.now()))]} />);
    expect(screen.queryByRole("heading")).not.toBeInTheDocument();
  });

  it.each([
    [null, false, "Add a contact e-mail so we can alert you"],
    ["alba@example.org", false, "Your e-mail address is not confirmed"],
  ] as const)("warns about the address %s (verified: %s)", async (address, verified, title) => {
    await renderApp(<Attention vault={createFakeVault()} rows={[]} />, {
      http: createFakeHttpClient({ "GET /user/me": () => createMe(address, verified) }),
    });
    expect(await screen.findByText(title)).toBeVisible();
    expect(screen.getByRole("link", { name: "Go to your profile" })).toHaveAttribute("href", "/settings/profile");
  });

  it("ignores a verified address", async () => {
    const http = createFakeHttpClient({ "GET /user/me": () => createMe("alba@example.org", true) });
    const { queryClient } = await renderApp(<Attention vault={createFakeVault()} rows={[]} />, { http });
    await waitFor(() => {
      expect(queryClient.isFetching()).toBe(0);
    });
    expect(http.calls).toHaveLength(1);
    expect(screen.queryByRole("heading")).not.toBeInTheDocument();
  });
});
